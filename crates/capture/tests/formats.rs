//! The variants of the file formats, each from its bytes.

mod common;

use capture::{Format, Info, Options};
use common::{Scratch, ethernet, header, read_all, segment, tuple};
use wire::{Notes, Packet, Time};

fn frame() -> Vec<u8> {
    ethernet(0x0800, &segment(&tuple(), 9, 100))
}

fn read(name: &str, bytes: &[u8]) -> (Vec<Packet>, Info) {
    let dir = Scratch::new(name);
    read_all(&[dir.file("a", bytes)], &Options::default())
}

/// A number in the byte order of the file.
#[derive(Clone, Copy)]
struct Order(bool);

impl Order {
    fn w16(self, n: u16) -> [u8; 2] {
        if self.0 { n.to_be_bytes() } else { n.to_le_bytes() }
    }
    fn w32(self, n: u32) -> [u8; 4] {
        if self.0 { n.to_be_bytes() } else { n.to_le_bytes() }
    }
    fn w64(self, n: u64) -> [u8; 8] {
        if self.0 { n.to_be_bytes() } else { n.to_le_bytes() }
    }
    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| self.w32(*w)).collect()
    }
    fn pcap_header(self, magic: u32, minor: u16, link: u32) -> Vec<u8> {
        let version = [self.w16(2), self.w16(minor)].concat();
        [self.w32(magic).to_vec(), version, self.words(&[0, 0, 65_535, link])].concat()
    }
}

#[test]
fn pcap_in_both_byte_orders_and_all_resolutions() {
    let frame = frame();
    let n = frame.len() as u32;
    for order in [Order(false), Order(true)] {
        for (magic, nanos, more) in [(0xa1b2_c3d4, 5000, 0), (0xa1b2_3c4d, 5, 0), (0xa1b2_cd34, 5000, 8)] {
            let record = [order.words(&[1_700_000_000, 5, n, n]), vec![0; more], frame.clone()].concat();
            let file = [order.pcap_header(magic, 4, 1), record.clone(), record].concat();
            let (packets, info) = read("pcap_orders", &file);
            assert_eq!(packets.len(), 2, "{magic:#x}");
            assert_eq!(packets[1].time, Time(1_700_000_000_000_000_000 + nanos), "{magic:#x}");
            assert_eq!(packets[1].seg, header(9, 100));
            assert_eq!((info.files[0].format, info.snap()), (Format::Pcap, Some(65_535)));
        }
    }
}

#[test]
fn old_pcap_with_its_lengths_in_the_other_order_is_put_right() {
    let (frame, order) = (frame(), Order(false));
    for minor in [2, 3] {
        // Wire length 166, of which 80 bytes were captured, in the old order
        let record = [order.words(&[1, 0, frame.len() as u32, 90]), frame[..90].to_vec()].concat();
        let (packets, info) = read("old_pcap", &[order.pcap_header(0xa1b2_c3d4, minor, 1), record].concat());
        assert_eq!((packets.len(), info.damage), (1, None));
        assert_eq!((packets[0].seg, packets[0].wire_len), (header(9, 100), frame.len() as u32));
    }
}

#[test]
fn a_frame_check_sequence_is_not_payload() {
    // BIG TCP, whose length comes from the frame; the link type says that 4 bytes of FCS are at its end
    let mut frame = frame();
    frame[16..18].fill(0);
    frame.extend([0xee; 4]);
    let (n, order) = (frame.len() as u32, Order(false));
    let link = 1 | 1 << 26 | 2 << 28;
    let file = [order.pcap_header(0xa1b2_c3d4, 4, link), order.words(&[1, 0, n, n]), frame].concat();
    assert_eq!(read("fcs", &file).0[0].seg.payload, 100);
}

#[test]
fn a_packet_longer_than_any_buffer_is_read_by_its_head() {
    let mut frame = frame();
    frame.resize(3 << 20, 0);
    let (n, order) = (frame.len() as u32, Order(false));
    let mut file = order.pcap_header(0xa1b2_c3d4, 4, 1);
    file[16..20].copy_from_slice(&(8u32 << 20).to_le_bytes());
    let record = [order.words(&[1, 0, n, n]), frame].concat();
    let whole = [file, record.clone(), record].concat();
    let (packets, info) = read("longer", &whole);
    assert_eq!((packets.len(), info.damage), (2, None));
    let (_, info) = read("longer_cut", &whole[..whole.len() - 10]);
    let damage = info.damage.unwrap();
    assert_eq!((damage.packet, damage.byte), (2, whole.len() as u64 - 10));

    let dir = Scratch::new("longer_copy");
    let (from, to) = (dir.file("a", &whole), dir.path("b"));
    capture::annotate(std::slice::from_ref(&from), &to, "", [], |_| true).unwrap();
    assert_eq!(read_all(&[from], &Options::default()).0, read_all(&[to], &Options::default()).0);
}

/// Blocks of a pcapng section.
struct Blocks(Order, Vec<u8>);

impl Blocks {
    fn new(big: bool) -> Blocks {
        let o = Order(big);
        let body = [o.words(&[0x1a2b_3c4d]), o.w16(1).to_vec(), o.w16(2).to_vec(), vec![0xff; 8]].concat();
        Blocks(o, Vec::new()).block(0x0a0d_0d0a, &body)
    }
    fn block(mut self, kind: u32, body: &[u8]) -> Blocks {
        let total = (12 + body.len() as u32).next_multiple_of(4);
        self.1.extend(self.0.words(&[kind, total]));
        self.1.extend(body);
        self.1.resize(self.1.len().next_multiple_of(4), 0);
        self.1.extend(self.0.w32(total));
        self
    }
    fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut o = [self.0.w16(code), self.0.w16(value.len() as u16)].concat();
        o.extend(value);
        o.resize(o.len().next_multiple_of(4), 0);
        o
    }
    fn interface(self, options: &[Vec<u8>]) -> Blocks {
        let body = [self.0.w16(1).to_vec(), vec![0, 0], self.0.words(&[0]), options.concat()].concat();
        self.block(1, &body)
    }
    fn packet(self, interface: u32, ticks: u64, options: &[Vec<u8>]) -> Blocks {
        let f = frame();
        let n = f.len() as u32;
        let fixed = self.0.words(&[interface, (ticks >> 32) as u32, ticks as u32, n, n]);
        let padding = vec![0; f.len().next_multiple_of(4) - f.len()];
        let body = [fixed, f, padding, options.concat()].concat();
        self.block(6, &body)
    }
}

#[test]
fn pcapng_times_follow_each_interface() {
    for big in [false, true] {
        let b = Blocks::new(big);
        let resolution = |r: u8| vec![b.option(9, &[r])];
        let offset = vec![b.option(9, &[0]), b.option(14, &b.0.w64(1000))];
        let (ms, ns, ps, binary) = (resolution(3), resolution(9), resolution(12), resolution(0x80 | 10));
        let file = b
            .interface(&[])
            .interface(&ms)
            .interface(&ns)
            .interface(&ps)
            .interface(&binary)
            .interface(&offset)
            .packet(0, 5, &[])
            .packet(1, 5, &[])
            .packet(2, 5_000_000_000, &[])
            .packet(3, 5_999, &[])
            .packet(4, 512, &[])
            .packet(5, 5, &[]);
        let (packets, info) = read("times", &file.1);
        let times: Vec<i64> = packets.iter().map(|p| p.time.0).collect();
        assert_eq!(times, [5_000, 5_000_000, 5_000_000_000, 5, 500_000_000, 1_005_000_000_000]);
        let said: Vec<String> = info.files[0].interfaces.iter().map(|i| i.resolution.to_string()).collect();
        assert_eq!(said, ["1 us", "1 ms", "1 ns", "1e-12 s", "2^-10 s", "1 s"]);
    }
}

#[test]
fn absurd_times_do_not_overflow() {
    let b = Blocks::new(false);
    let finest = vec![b.option(9, &[127])];
    let (coarse, binary) = (vec![b.option(9, &[0])], vec![b.option(9, &[0xff])]);
    let far = vec![b.option(9, &[0]), b.option(14, &b.0.w64(i64::MIN as u64))];
    let file = b.interface(&finest).interface(&coarse).interface(&binary).interface(&far);
    let file = (0..4).fold(file, |f, i| f.packet(i, u64::MAX, &[]).packet(i, 0, &[]));
    assert_eq!(read("absurd_times", &file.1).0.len(), 8);
}

#[test]
fn directions_drops_and_blocks_that_nobody_knows() {
    for big in [false, true] {
        let b = Blocks::new(big);
        let flags = |n: u32| vec![b.option(1, b"a comment"), b.option(2, &b.0.w32(n))];
        let lost = vec![b.option(4, &b.0.w64(3))];
        let (inbound, outbound) = (flags(1), flags(0x42));
        let file = b
            .interface(&[])
            .block(0x0bad_cafe, &[1; 37])
            .packet(0, 1, &inbound)
            .packet(0, 2, &outbound)
            .packet(0, 3, &lost)
            .packet(0, 4, &lost);
        let (packets, info) = read("directions", &file.1);
        let notes: Vec<Notes> = packets.iter().map(|p| p.notes).collect();
        assert_eq!(notes, [Notes::INBOUND, Notes::OUTBOUND, Notes(0), Notes(0)]);
        assert_eq!(info.dropped(), Some(6));
        assert!(info.warnings.contains(&"the capture lost 6 packets, by its own count".to_string()));
    }
}

#[test]
fn the_obsolete_packet_block_is_read() {
    let b = Blocks::new(true);
    let o = b.0;
    let f = frame();
    let n = f.len() as u32;
    let fixed = [o.w16(0).to_vec(), o.w16(0xffff).to_vec(), o.words(&[0, 7, n, n])].concat();
    let file = b.interface(&[]).block(2, &[fixed, f].concat());
    let (packets, _) = read("obsolete", &file.1);
    assert_eq!((packets[0].time, packets[0].seg), (Time(7_000), header(9, 100)));
}

#[test]
fn snoop_is_read_with_its_drops() {
    let f = frame();
    let o = Order(true);
    let n = f.len() as u32;
    let padding = vec![0; 2];
    let record = [o.words(&[n, n, n + 24 + 2, 4, 1_000, 5]), f, padding].concat();
    let file = [b"snoop\0\0\0".to_vec(), o.words(&[2, 4]), record.clone(), record.clone()].concat();
    let (packets, info) = read("snoop", &file);
    assert_eq!((packets.len(), packets[1].time), (2, Time(1_000_000_005_000)));
    assert_eq!((packets[0].seg, info.dropped()), (header(9, 100), Some(4)));
    for cut in 16..file.len() {
        let (packets, info) = read("snoop_cut", &file[..cut]);
        assert_eq!(packets.len(), (cut - 16) / record.len(), "cut at {cut}");
        assert_eq!(info.damage.is_none(), (cut - 16).is_multiple_of(record.len()));
    }
}

#[test]
fn absurd_drop_counts_do_not_overflow() {
    let b = Blocks::new(false);
    let statistics = |interface: u32| {
        let counts = [b.option(5, &[0xff; 8]), b.option(7, &[0xff; 8])].concat();
        [b.0.words(&[interface, 0, 0]), counts].concat()
    };
    let (first, second) = (statistics(0), statistics(1));
    let lost = vec![b.option(4, &[0xff; 8])];
    let file = b.interface(&[]).interface(&[]).packet(0, 1, &lost).packet(0, 2, &lost);
    let file = file.block(5, &first).block(5, &second).block(5, &[1, 2, 3]);
    let dir = Scratch::new("absurd_drops");
    let path = dir.file("a", &file.1);
    let (packets, info) = read_all(std::slice::from_ref(&path), &Options::default());
    assert_eq!((packets.len(), info.dropped(), info.damage), (2, Some(u64::MAX), None));
    capture::annotate(&[path.clone(), path], &dir.path("b"), "", [], |_| true).unwrap();
}

#[test]
fn interfaces_without_end_are_damage() {
    let (mut file, mut n) = (Blocks::new(false), 0);
    while n <= 1 << 16 {
        file = file.interface(&[]);
        n += 1;
    }
    let (_, info) = read("interfaces", &file.1);
    assert_eq!(info.files[0].interfaces.len(), 1 << 16);
    assert!(info.damage.unwrap().to_string().contains("more than 65,536 interfaces were described"));
}
