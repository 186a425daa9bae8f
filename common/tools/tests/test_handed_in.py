"""What learners hand in is found: checkouts, flat files, zip files, downloads of Moodle and Canvas, files of every editor."""

import io
import os
import unittest
import zipfile
from unittest import mock

from tools.lib.failed import Failed
from tools.teach import handed_in
from tools.teach.regular import GradeError
from tools.tests.in_folder import InFolder

READS = ()

CHAPTER = "01-global-atomic"
EXERCISES = [(CHAPTER, name) for name in ("lost_update", "ticket", "word_count")] + [("03-shared-reduce", "block_max")]
TICKET, WORDS = (CHAPTER, "ticket"), (CHAPTER, "word_count")
ONE, TWO, STARTER = "int one();\n", "int two();\n", "NOT_STARTED  // delete\nint x();\n"


def packed(files, system=3):
    """The bytes of a zip file that was made on a system (3: Unix); a value may be a ZipInfo's external attributes and the content."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.create_system = system
            if isinstance(content, tuple):
                info.external_attr, content = content[0] << 16, content[1]
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return data.getvalue()


class Finding(InFolder):
    def find(self, *names, downloads=()):
        learners, self.warnings = handed_in.find([self.folder / name for name in names], EXERCISES, [self.folder / name for name in downloads])
        return learners

    def one(self, name):
        learners = self.find(name)
        self.assertEqual(len(learners), 1)
        return next(iter(learners.values()))

    def refusal(self, handed, key=TICKET):
        with self.assertRaises(GradeError) as error:
            handed.text(key)
        return str(error.exception)


class Folders(Finding):
    def test_a_checkout_and_flat_files(self):
        self.write(f"ada/exercises/{CHAPTER}/ticket.cuh", ONE)
        self.write("ada/solutions/ticket.cuh", TWO)
        self.write("bob/ticket.cuh", TWO)
        self.write("bob/notes.txt", "hello")
        learners = self.find("ada", "bob")
        self.assertEqual({name: handed.text(TICKET) for name, handed in learners.items()}, {"ada": ONE, "bob": TWO})
        self.assertIsNone(learners["ada"].text(WORDS))
        self.assertEqual(learners["bob"].notes, ["not read: notes.txt"])

    def test_names_as_systems_change_them(self):
        for name in ("Ticket.cuh", "ticket.CUH", "TICKET.cuh", "ticket (1).cuh", "ticket(2).cuh", "ticket-1.cuh", "ticket.cuh.txt",
                     "ticket - Copy.cuh", "ticket - Kopie (2).cuh"):
            file = self.write(f"ada/{name}", ONE)
            self.assertEqual(self.one("ada").text(TICKET), ONE, name)
            file.unlink()

    def test_other_names_are_told_with_what_is_expected(self):
        for name in ("ticket.cu", "tickets.cuh", "ticket.cpp", "answer.cuh"):
            file = self.write(f"ada/{name}", ONE)
            self.assertRegex(self.one("ada").error, rf"no folder exercises/ and no file such as ticket\.cuh in it; there is {name}")
            file.unlink()
        (self.folder / "empty").mkdir()
        self.assertIn("there is nothing", self.one("empty").error)
        self.write("ada/word_count.cuh", ONE)
        self.write("ada/ticket.cu", ONE)
        self.assertEqual(self.one("ada").notes, ["not read: ticket.cu"])

    def test_two_files_for_one_exercise(self):
        self.write("ada/ticket (1).cuh", ONE)
        self.write("ada/ticket (2).cuh", TWO)
        self.assertEqual(self.refusal(self.one("ada")), "2 different files could be it, and one is expected: ticket (1).cuh, ticket (2).cuh")
        self.write("ada/ticket (2).cuh", ONE)
        self.assertEqual(self.one("ada").text(TICKET), ONE, "both are the same")
        self.write("ada/ticket.cuh", TWO)
        self.assertEqual(self.one("ada").text(TICKET), TWO, "the exact name wins")
        self.write(f"ada/exercises/{CHAPTER}/ticket.cuh", STARTER)
        self.assertEqual(self.one("ada").text(TICKET), TWO, "a starter is no answer")
        self.write(f"ada/exercises/{CHAPTER}/ticket.cuh", ONE)
        self.assertEqual(self.one("ada").text(TICKET), ONE, "the course's place wins")

    def test_a_link_is_named_as_a_link(self):
        for place in ("ticket.cuh", f"exercises/{CHAPTER}/ticket.cuh"):
            link = self.folder / "ada" / place
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to("/etc/passwd")
            self.assertEqual(self.refusal(self.one("ada")), "it is a link", place)
            link.unlink()

    def test_one_folder_around_it(self):
        self.write("ada/homework/ticket.cuh", ONE)
        self.write(f"bob/course-main/exercises/{CHAPTER}/ticket.cuh", TWO)
        learners = self.find("ada", "bob")
        self.assertEqual([learners[name].text(TICKET) for name in ("ada", "bob")], [ONE, TWO])

    def test_what_is_no_submission_ends_the_grading(self):
        self.write("ada/ticket.cuh", ONE)
        self.write("b/ada/ticket.cuh", ONE)
        self.write("b/bob/ticket.cuh", ONE)
        self.write("ticket.cuh", ONE)
        self.write("ada.zip", packed({"ticket.cuh": TWO}))
        for names, reason in {(): "no submission is named", ("eve",): "eve: there is no such file or folder", ("*",): "no such file",
                              ("ada.zip", "ada"): "both called 'ada': rename one", ("ada", "ada.zip"): "both called 'ada': rename one",
                              ("ada", "b/ada"): "both called 'ada'", ("ticket.cuh",): "ticket.cuh is a file: a submission is"}.items():
            with self.assertRaisesRegex(Failed, reason):
                self.find(*names)

    def test_a_folder_with_very_many_files(self):
        for number in range(60):
            self.write(f"ada/a{number}/x{number}", "")
        self.write("ada/ticket.cuh", ONE)
        with mock.patch.object(handed_in, "MOST_FILES", 70):
            self.assertEqual(self.one("ada").text(TICKET), ONE)
        deep = self.folder / "bob"
        for _ in range(400):
            deep /= "d"
        os.makedirs(deep)
        self.assertIn("there is nothing", self.one("bob").error)


class Texts(Finding):
    def test_encodings_and_line_ends(self):
        text = "// größer\nint one();\n"
        for name, data in {
            "utf-8": text.encode(), "byte order mark": text.encode("utf-8-sig"), "utf-16": text.encode("utf-16"),
            "big endian": b"\xfe\xff" + text.encode("utf-16-be"), "utf-32": text.encode("utf-32"), "CR": text.replace("\n", "\r").encode(),
            "CRLF": text.replace("\n", "\r\n").encode(), "all": text.replace("\n", "\r\n").encode("utf-16"),
        }.items():
            self.write("ada/ticket.cuh", data)
            self.assertEqual(self.one("ada").text(TICKET), text, name)
        self.write("ada/ticket.cuh", text.encode("utf-16-le"))
        self.assertIn("save it as UTF-8", self.refusal(self.one("ada")))

    def test_a_file_that_is_too_large(self):
        self.write("ada/ticket.cuh", b"x" * 300_000)
        self.assertEqual(self.refusal(self.one("ada")), "it has 300000 bytes, and 200000 are the most")


class Zips(Finding):
    def test_of_one_learner(self):
        for number, inner in enumerate(("ticket.cuh", f"exercises/{CHAPTER}/ticket.cuh", f"repo-main/exercises/{CHAPTER}/ticket.cuh", f"{CHAPTER}/ticket.cuh")):
            self.write(f"ada{number}.zip", packed({inner: ONE, "__MACOSX/._ticket.cuh": "x", "repo-main/.git/config" if "repo" in inner else ".git/x": "x"}))
            learners = self.find(f"ada{number}.zip")
            self.assertEqual({name: handed.text(TICKET) for name, handed in learners.items()}, {f"ada{number}": ONE}, inner)

    def test_in_a_learners_folder(self):
        self.write("ada/homework.zip", packed({"homework/ticket.cuh": ONE}))
        self.assertEqual(self.one("ada").text(TICKET), ONE)
        self.assertEqual(self.one("ada").notes, [])
        self.write("bob/ticket.cuh", TWO)
        self.write("bob/homework.zip", packed({"homework/ticket.cuh": ONE}))
        self.assertEqual((self.one("bob").text(TICKET), self.one("bob").notes), (TWO, ["not read: homework.zip"]))
        self.write("ada/homework.zip", b"PK\3\4 no zip")
        self.assertIn("homework.zip cannot be read as a zip file", self.one("ada").error)

    def test_of_several_folders(self):
        self.write("class.zip", packed({"week1/ada/ticket.cuh": ONE, "week1/bob/ticket.cuh": TWO}))
        self.write("class/ada/ticket.cuh", ONE)
        self.write("class/bob/ticket.cuh", TWO)
        for name in ("class.zip", "class"):
            learners = self.find(downloads=[name])
            self.assertEqual({name: handed.text(TICKET) for name, handed in learners.items()}, {"ada": ONE, "bob": TWO})
            self.assertEqual(self.refusal(self.one(name)), "2 different files could be it, and one is expected: ada/ticket.cuh, bob/ticket.cuh")
            self.assertRegex("\n".join(self.warnings), rf"^\S*{name} is taken for one learner's: if its folders ada, bob are learners, name it as --download \S*{name}$")

    def test_hostile_ones(self):
        link = 0o120777
        for content, reason in {
            ("ticket.cuh", (link, "/etc/passwd")): "it is a link",
            ("../../ticket.cuh", ONE): "leads out of the zip file",
            ("/tmp/ticket.cuh", ONE): "leads out of the zip file",
            ("ticket.cuh", b"\0" * 50_000_000): "it has 50000000 bytes, and 200000 are the most",
        }.items():
            self.write("ada.zip", packed(dict([content])))
            self.assertIn(reason, self.refusal(self.one("ada.zip")), content[0])
        self.write("ada.zip", packed({f"f{number}": "" for number in range(40)}))
        with mock.patch.object(handed_in, "MOST_FILES", 30):
            self.assertEqual(self.one("ada.zip").error, "ada.zip has 40 files, and 30 are the most")
        data = bytearray(packed({"ticket.cuh": ONE * 50}))
        data[40] ^= 0xff
        self.write("ada.zip", bytes(data))
        self.assertIn("cannot be unpacked", self.refusal(self.one("ada.zip")))
        with mock.patch.object(handed_in, "MOST_ZIP_BYTES", 100):
            self.write("bob/a.zip", packed({"ticket.cuh": os.urandom(300)}))
            self.assertIn("a.zip: it has", self.one("bob").error)


    def test_a_zip_file_of_windows(self):
        self.write("ada.zip", packed({f"exercises\\{CHAPTER}\\ticket.cuh": ONE}, system=handed_in.MADE_ON_WINDOWS))
        self.assertEqual(self.one("ada.zip").text(TICKET), ONE)


class Platforms(Finding):
    MOODLE = {"Ada Lovelace_123_assignsubmission_file_/ticket.cuh": ONE, "Bob B_124_assignsubmission_file/ticket.cuh": TWO,
              "Eve_125_assignsubmission_file_ticket.cuh": ONE, "Zoe_126_assignsubmission_file_/all.zip": packed({"a/ticket.cuh": TWO})}

    def texts(self, *names, downloads=()):
        return {name: handed.text(TICKET) for name, handed in self.find(*names, downloads=downloads).items()}

    def test_a_file_name_reaches_no_other_learner(self):
        for name in ("..\\..\\adalovelace_12345_67890_ticket.cuh", "..\\adalovelace_12345_67890_ticket.cuh", "/../adalovelace_12345_67890_ticket.cuh",
                     "x\\ticket.cuh", "\\ticket.cuh"):
            for system in (3, handed_in.MADE_ON_WINDOWS):
                self.write("class.zip", packed({"adalovelace_12345_67890_ticket.cuh": ONE, f"eve_12346_67891_{name}": TWO}, system))
                self.assertEqual(self.find(downloads=["class.zip"])["adalovelace_12345"].text(TICKET), ONE, (name, system))

    def test_what_is_one_learners_stays_that_learners_whatever_its_files_are_called(self):
        inner = {"m": {"victim_1234_assignsubmission_file_/ticket.cuh": TWO}, "m2": {"m2_9_assignsubmission_file_/ticket.cuh": ONE, "victim_1_assignsubmission_file_/ticket.cuh": TWO},
                 "c": {"victim_12345_67890_ticket.cuh": TWO}, "w": {"x/victim_12345_67890_ticket.cuh": TWO}, "v": {"victim/ticket.cuh": ONE, "x/ticket.cuh": TWO}}
        self.write("victim/ticket.cuh", ONE)
        for name, files in inner.items():
            self.write(f"{name}.zip", packed(files))
            for path, text in files.items():
                self.write(f"{name}/{path}", text)
            for argument in (name, f"{name}.zip"):
                learners = self.find("victim", argument)
                self.assertEqual((sorted(learners), learners["victim"].text(TICKET)), (sorted(["victim", name]), ONE), argument)
                self.assertRegex("\n".join(self.warnings), rf"^\S*/{argument} is taken for one learner's: .* --download \S*/{argument}$")
                if name != "v":
                    self.assertRegex(learners[name].error, "its files are named as those of a whole class in a download of Moodle or Canvas: .*ticket.cuh")
                else:
                    self.assertIn("2 different files could be it", self.refusal(learners[name]))
        self.assertEqual(sorted(self.find("victim", *inner)), sorted(["victim", *inner]), "equal names inside of two submissions")

    def test_what_one_learner_hands_in_never_ends_the_grading_of_others(self):
        self.write("ada/ticket.cuh", ONE)
        whole = packed({"ticket.cuh": ONE})
        self.write("cut.zip", whole[:len(whole) // 2])
        self.write("odd.zip", whole.replace(b"PK\1\2", b"PK\1\3"))
        self.write(f"{'x' * 240}/ticket.cuh", TWO)
        self.write("..zip", whole)
        learners = self.find("ada", "cut.zip", "odd.zip", "x" * 240, "..zip")
        self.assertEqual(learners["ada"].text(TICKET), ONE)
        for name in ("cut", "odd"):
            self.assertRegex(learners[name].error, rf"^{name}.zip cannot be read as a zip file: ")
        long, dot = sorted(set(learners) - {"ada", "cut", "odd"}, reverse=True)
        self.assertRegex(long, "^x{60}~[0-9a-f]{8}$")
        self.assertRegex(dot, "^_~[0-9a-f]{8}$")
        self.assertEqual([learners[long].text(TICKET), learners[dot].text(TICKET)], [TWO, ONE])
        self.assertEqual(self.warnings, [f"{'x' * 60}... cannot be a learner's name: the row is called '{long}'", f". cannot be a learner's name: the row is called '{dot}'"])

    def test_what_is_no_download_is_said(self):
        self.write("ada.zip", packed({"ticket.cuh": ONE}))
        self.write("ada/ticket.cuh", ONE)
        for name, reason in {"ada.zip": "without --download it is one learner's", "ada": "without --download it is one learner's", "eve": "no such file or folder"}.items():
            with self.assertRaisesRegex(Failed, f"^--download .*{name}: .*{reason}$"):
                self.find(downloads=[name])

    def test_moodle(self):
        expected = {"Ada Lovelace": ONE, "Bob B": TWO, "Eve": ONE, "Zoe": TWO}
        self.write("m.zip", packed({**self.MOODLE, "Ada Lovelace_123_assignsubmission_onlinetext_/onlinetext.html": "x"}))
        self.assertEqual(self.texts(downloads=["m.zip"]), expected)
        self.assertEqual(self.find(downloads=["m.zip"])["Ada Lovelace"].notes, ["a text was typed into Moodle as well: it is not read"])
        for name, content in self.MOODLE.items():
            self.write(f"m/{name}", content)
        self.assertEqual(self.texts(downloads=["m"]), expected)
        self.assertEqual(self.texts(*(f"m/{file.name}" for file in (self.folder / "m").iterdir())), expected)
        self.write("wrapped.zip", packed({f"Week 1/{name}": content for name, content in self.MOODLE.items()}))
        self.assertEqual(self.texts(downloads=["wrapped.zip"]), expected)

    def test_two_of_one_name_in_moodle(self):
        self.write("m.zip", packed({"Ada L_1_assignsubmission_file_/ticket.cuh": ONE, "Ada L_2_assignsubmission_file_/ticket.cuh": TWO}))
        self.assertEqual(self.texts(downloads=["m.zip"]), {"Ada L_1": ONE, "Ada L_2": TWO})
        self.assertIn("another Ada L", self.warnings[0])

    def test_who_typed_a_text_into_moodle_has_a_row(self):
        typed = "Ada L_1_assignsubmission_onlinetext_/onlinetext.html"
        self.write("m.zip", packed({typed: ONE, "Bob_2_assignsubmission_file_/ticket.cuh": TWO}))
        self.write(f"m/{typed}", ONE)
        for learners in (self.find(downloads=["m.zip"]), self.find(f"m/{typed.partition('/')[0]}")):
            self.assertEqual(learners["Ada L"].error, "a text was typed into Moodle, and no file was handed in: typed text is not read")

    def test_a_learner_is_in_one_download_of_a_command(self):
        moodle, canvas = "Ada L_{}_assignsubmission_file_/ticket.cuh", "lovelaceada_12345_6_ticket.cuh"
        for first, second, name in ((moodle.format(1), moodle.format(1), "Ada L"), (moodle.format(1), moodle.format(2), "Ada L"),
                                    (canvas, canvas, "lovelaceada_12345")):
            self.write("1.zip", packed({first: ONE}))
            self.write("2.zip", packed({second: TWO}))
            self.write(f"x/{second}", TWO)
            for others, downloads in (((), ["2.zip"]), ((), ["x"]), ([f"x/{second.partition('/')[0]}"], ())):
                with self.assertRaisesRegex(Failed, f"^.*1.zip and .*{[*downloads, 'x'][0]} both have files of '{name}': name one of them"):
                    self.find(*others, downloads=["1.zip", *downloads])
            (self.folder / "x" / second).unlink()
        self.write("x/lovelaceada_12345_7_word_count.cuh", ONE)
        self.write(f"x/{canvas}", TWO)
        learners = self.find("x/lovelaceada_12345_7_word_count.cuh", f"x/{canvas}")
        self.assertEqual([learners["lovelaceada_12345"].text(key) for key in (TICKET, WORDS)], [TWO, ONE], "one listing")

    def test_canvas(self):
        canvas = {"lovelaceada_12345_67890_ticket-1.cuh": ONE, "lovelaceada_12345_67891_word_count.cuh": TWO,
                  "bobb_LATE_12346_67892_Ticket.cuh": TWO, "evee_1_2_hw.zip": packed({"ticket.cuh": ONE})}
        expected = {"lovelaceada_12345": ONE, "bobb_12346": TWO, "evee_1": ONE}
        self.write("submissions.zip", packed(canvas))
        self.assertEqual(self.texts(downloads=["submissions.zip"]), expected)
        learners = self.find(downloads=["submissions.zip"])
        self.assertEqual(learners["lovelaceada_12345"].text(WORDS), TWO)
        self.assertEqual(learners["bobb_12346"].notes, ["Canvas has marked it as late"])
        for name, content in canvas.items():
            self.write(f"c/{name}", content)
        self.assertEqual(self.texts(downloads=["c"]), expected)
        self.assertEqual(self.texts(*(f"c/{name}" for name in canvas)), expected)

    def test_who_handed_in_nothing_that_is_known_is_named(self):
        self.write("m.zip", packed({"Ada_1_assignsubmission_file_/report.pdf": "x", "Bob_2_assignsubmission_file_/ticket.cuh": ONE}))
        self.assertIn("there is report.pdf", self.find(downloads=["m.zip"])["Ada"].error)


if __name__ == "__main__":
    unittest.main()
