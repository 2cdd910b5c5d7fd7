"""Code shared by the file-manager panels: asking for figures, their words, and a page of widgets."""
