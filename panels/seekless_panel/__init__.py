"""What the file-manager panels share: figures and their words, asking for them, and a page of widgets."""
