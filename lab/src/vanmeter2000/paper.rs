//! The paper's text on each figure. Its graphs have no numbers; these are from the text.

use super::task::Question;

/// The questions of a figure, and its device; `None` for a figure without measurements.
pub(super) fn question(figure: u32) -> Option<(&'static [Question], &'static str)> {
    Some(match figure {
        7 | 8 => (&[Question::CountLines], "nfs"),
        9 => (&[Question::CountLines], "cdrom"),
        10 => (&[Question::AllMatches], "cdrom"),
        11 | 12 => (&[Question::OneMatch], "disk"),
        13 => (&[Question::OneMatch], "nfs"),
        14 => (&[Question::Histogram], "fits-disk"),
        15 => (&[Question::RebinBy4, Question::RebinBy16], "fits-disk"),
        _ => return None,
    })
}

/// The figures that show a question's curve.
pub(super) fn figures(question: Question) -> &'static [u32] {
    match question {
        Question::CountLines => &[7, 8, 9],
        Question::AllMatches => &[10],
        Question::OneMatch => &[11, 12, 13],
        Question::Histogram => &[14],
        Question::RebinBy4 | Question::RebinBy16 => &[15],
    }
}

/// The paper's result.
pub(super) fn found(question: Question) -> &'static str {
    match question {
        Question::CountLines => {
            "gains from where the cache cannot hold the file (50 of 64 MB) on, 4.5 times at the peak (about 60 MB), half as fast \
             again over a broad range (Figs. 7, 8; NFS); page faults follow the time (Fig. 9; CD-ROM)"
        }
        Question::AllMatches => {
            "about 15 s less for large files, the time that fills the cache; a little more CPU time (CD-ROM)"
        }
        Question::OneMatch => {
            "more than ten times (Figs. 11, 12; disk); the plain program gains nothing of what is cached (Fig. 13; NFS, 64 MB)"
        }
        Question::Histogram => {
            "15 to 25 % less time, 30 to 50 % fewer page faults at 48 to 64 MB (disk)"
        }
        Question::RebinBy4 => "11 % less time, 30 to 50 % fewer page faults from 48 MB on (disk)",
        Question::RebinBy16 => "25 to 35 % less time from 48 MB on (disk)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_and_its_question_find_each_other() {
        for figure in 7..=15 {
            let (questions, device) = question(figure).unwrap();
            assert!(questions.iter().all(|&question| figures(question).contains(&figure)));
            assert!(device.parse::<super::super::speed::Speed>().is_ok());
        }
        assert!(question(6).is_none() && question(16).is_none());
    }
}
