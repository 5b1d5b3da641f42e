//! What steps print: whole, in order, and never too much of it.

use std::fs;

use opal_core::stream::Stream;
use opal_testing::shown;
use opal_vault::event::End;
use opal_vault::record::Writer;
use opal_vault::record::reader::Following;
use opal_vault::witness::Recorder;

use crate::record::support::*;

const MIB: usize = 1024 * 1024;

/// Numbered lines, so that every part of them can be identified.
fn lines(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 16);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.extend(format!("line {number}\n").bytes());
    }
    text.truncate(bytes);
    text
}

fn print_in_chunks(writer: &Writer<'_>, text: &[u8], chunk: usize) {
    writer.event(&started(1, "p")).unwrap();
    for part in text.chunks(chunk) {
        print(writer, 1, part);
    }
}

#[test]
fn output_of_any_size_and_any_chunks_comes_back_whole() {
    for size in [0, 1, 65_535, 65_536, 65_537, 300_000, 5 * MIB, 5 * MIB + 1, 10 * MIB] {
        let text = lines(size);
        for chunk in [1000, 65_536, 70_001, 6 * MIB] {
            let place = Place::new();
            let writer = place.writer("deploy", 1);
            print_in_chunks(&writer, &text, chunk);
            let folder = writer.folder().to_owned();
            let running = printed(&folder, 1);
            assert!(text.starts_with(&running), "{size} in {chunk}");
            writer.event(&finished(1, "p", End::Done, 0)).unwrap();
            assert!(printed(&folder, 1) == text, "{size} in {chunk}");
            let own = names(&folder).contains(&"output-1.txt".to_owned());
            assert_eq!(own, size > 65_536, "{size} in {chunk}");
            if own {
                assert!(fs::read(folder.join("output-1.txt")).unwrap() == text);
            }
        }
    }
}

#[test]
fn of_much_output_the_first_and_the_last_half_stay() {
    for size in [10 * MIB + 1, 10 * MIB + 70_000, 15 * MIB, 15 * MIB + 1, 37 * MIB + 12_345] {
        let place = Place::new();
        let writer = place.writer("deploy", 1);
        let text = lines(size);
        print_in_chunks(&writer, &text, 65_000);
        let folder = writer.folder().to_owned();
        let left_out = size - 10 * MIB;
        let half = 5 * MIB;
        writer.event(&finished(1, "p", End::Done, 0)).unwrap();
        let kept = printed(&folder, 1);
        let marker = format!(
            "\n[opal: {left_out} bytes omitted; a record keeps the first and the last 5 MiB]\n"
        );
        assert!(kept[..half] == text[..half], "{size}");
        assert_eq!(&kept[half..half + marker.len()], marker.as_bytes(), "{size}");
        assert!(kept[half + marker.len()..] == text[size - half..], "{size}");
        let expected = ["events.jsonl", "output-1.txt", "plan.json"];
        assert_eq!(names(&folder), expected, "{size}");
        let reported = events(&folder);
        let last = reported.iter().rfind(|event| event["kind"] == "output").unwrap();
        assert_eq!(last["left_out"], left_out, "{size}");
    }
}

#[test]
fn after_a_crash_both_halves_are_there() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    let text = lines(23 * MIB);
    // Whole chunks of this size are written at once.
    print_in_chunks(&writer, &text, 65_536);
    let folder = writer.folder().to_owned();
    let kept = printed(&folder, 1);
    assert!(kept.starts_with(&text[..5 * MIB]));
    assert!(kept.ends_with(&text[18 * MIB..]));
    let marker = format!("[opal: {} bytes omitted", 13 * MIB);
    assert!(String::from_utf8_lossy(&kept).contains(&marker));
    drop(writer);
    assert!(printed(&folder, 1) == kept);
}

#[test]
fn who_reads_while_much_is_printed_sees_nothing_out_of_order() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    let text = lines(64 * MIB);
    print_in_chunks(&writer, &text[..16 * MIB], 65_536);
    let folder = writer.folder().to_owned();
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| {
            for part in text[16 * MIB..].chunks(100_000) {
                print(&writer, 1, part);
            }
        });
        while !rest.is_finished() {
            let kept = printed(&folder, 1);
            let (first, rest) = kept.split_at(5 * MIB);
            assert!(first == &text[..5 * MIB]);
            let marker = rest.windows(2).position(|pair| pair == b"]\n").unwrap() + 2;
            let (marker, last) = rest.split_at(marker);
            let left_out = String::from_utf8_lossy(marker);
            let left_out = left_out.split(' ').nth(1).unwrap().parse::<usize>().unwrap();
            assert!(text[5 * MIB + left_out..].starts_with(last), "{left_out}");
        }
    });
}

fn all_of(output: &mut Following) -> Vec<u8> {
    std::iter::from_fn(|| Some(output.more().unwrap()).filter(|it| !it.is_empty()))
        .flatten()
        .collect()
}

/// What the last event about an output says.
fn left_out(folder: &std::path::Path) -> Option<u64> {
    events(folder).iter().rev().find_map(|event| event["left_out"].as_u64())
}

#[test]
fn who_follows_sees_everything_but_what_came_and_went_meanwhile() {
    // Where the step ends: within the first half, within the last one, and long after both.
    for size in [3 * MIB, 5 * MIB, 8 * MIB, 10 * MIB, 10 * MIB + 1, 40 * MIB + 77] {
        let place = Place::new();
        let writer = place.writer("deploy", 1);
        let text = lines(size);
        print_in_chunks(&writer, &text[..MIB], 65_536);
        let folder = writer.folder().to_owned();
        let mut output = Following::open(&folder.join("output-1.txt"), 1000).unwrap();
        let mut seen = text[..1000].to_vec();
        for part in text[MIB..].chunks(2 * MIB) {
            print(&writer, 1, part);
            seen.extend(all_of(&mut output));
        }
        writer.event(&finished(1, "p", End::Done, 0)).unwrap();
        let left_out = left_out(&folder);
        assert_eq!(left_out.is_some(), size > 10 * MIB, "{size}");
        left_out.into_iter().for_each(|count| output.ended(count));
        seen.extend(all_of(&mut output));
        assert!(seen == text, "{size}");

        let mut output = Following::open(&folder.join("output-1.txt"), 0).unwrap();
        left_out.into_iter().for_each(|count| output.ended(count));
        let late = all_of(&mut output);
        assert!(late == printed(&folder, 1), "{size}");
    }
}

#[test]
fn who_follows_a_killed_run_sees_both_halves() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    let text = lines(23 * MIB);
    print_in_chunks(&writer, &text, 65_536);
    let folder = writer.folder().to_owned();
    drop(writer);
    let seen = all_of(&mut Following::open(&folder.join("output-1.txt"), 0).unwrap());
    assert!(seen == printed(&folder, 1));
}

#[test]
fn streams_keep_their_names_and_their_order() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    writer.event(&started(1, "p")).unwrap();
    // More than are written at once, so that some of them wait.
    for number in 0..100 {
        let stream = if number % 3 == 0 { Stream::Stderr } else { Stream::Stdout };
        writer.output(1, stream, &shown(number.to_string().into_bytes())).unwrap();
    }
    writer.event(&finished(1, "p", End::Done, 0)).unwrap();
    let whole: String = (0..100).map(|number| number.to_string()).collect();
    assert_eq!(printed(writer.folder(), 1), whole.as_bytes());
    let reported = events(writer.folder());
    let errors: String = reported
        .iter()
        .filter(|event| event["stream"] == "stderr")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    let expected: String = (0..100).step_by(3).map(|number| number.to_string()).collect();
    assert_eq!(errors, expected);
}

#[test]
fn a_character_in_two_chunks_stays_text_and_binary_stays_what_it_is() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    writer.event(&started(1, "p")).unwrap();
    for byte in "grün 🔒".as_bytes().chunks(1) {
        print(&writer, 1, byte);
    }
    writer.event(&finished(1, "p", End::Done, 0)).unwrap();
    step(&writer, 2, "p", b"\xff\x00\xf0\x9f");
    let reported = events(writer.folder());
    assert!(
        reported.iter().filter(|event| event["number"] == 1).all(|e| e.get("base64").is_none())
    );
    assert_eq!(printed(writer.folder(), 1), "grün 🔒".as_bytes());
    assert_eq!(printed(writer.folder(), 2), b"\xff\x00\xf0\x9f");
}

#[test]
fn a_step_that_prints_now_and_then_can_be_watched() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    writer.event(&started(1, "p")).unwrap();
    print(&writer, 1, b"building\n");
    assert_eq!(printed(writer.folder(), 1), b"building\n");
}

#[test]
fn what_waits_is_written_when_a_step_goes_quiet() {
    // Among the events, in a file of its own, and in its last half.
    for size in [5000, 100_000, 6 * MIB] {
        let place = Place::new();
        let writer = place.writer("deploy", 1);
        let text = lines(size);
        print_in_chunks(&writer, &text[..size - 1000], 65_536);
        text[size - 1000..].chunks(10).for_each(|part| print(&writer, 1, part));
        writer.idle(1).unwrap();
        assert!(printed(writer.folder(), 1) == text, "{size}");
        let reported = events(writer.folder()).len();
        writer.idle(1).unwrap();
        writer.idle(2).unwrap();
        assert_eq!(events(writer.folder()).len(), reported, "{size}");
        // A character that has only begun still waits for its rest.
        print(&writer, 1, &"ü".as_bytes()[..1]);
        writer.idle(1).unwrap();
        print(&writer, 1, &"ü".as_bytes()[1..]);
        writer.event(&finished(1, "p", End::Done, 0)).unwrap();
        assert!(events(writer.folder()).iter().all(|event| event.get("base64").is_none()));
    }
}

#[test]
fn output_of_steps_that_never_finished_is_kept_at_the_end() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    print_in_chunks(&writer, &lines(5000), 10);
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    assert!(printed(&folder, 1) == lines(5000));
}
