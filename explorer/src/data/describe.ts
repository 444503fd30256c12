/** A packet as tcpdump writes it. */

import type { FlowRow } from "./meta";
import type { Packets } from "./packets";

/** In tcpdump's order. */
const FLAGS: [number, string][] = [
  [0x01, "F"],
  [0x02, "S"],
  [0x04, "R"],
  [0x08, "P"],
  [0x10, "."],
  [0x20, "U"],
  [0x40, "E"],
  [0x80, "W"],
];

export function flagWords(bits: number): string {
  const told = FLAGS.filter(([bit]) => (bits & bit) !== 0).map(([, letter]) => letter);
  return told.length > 0 ? told.join("") : "none";
}

/** `10.9.1.2:39016` as `10.9.1.2.39016`; `[2001:db8::1]:80` as `2001:db8::1.80`. */
export function dotted(end: string): string {
  const at = end.lastIndexOf(":");
  return at < 0 ? end : `${end.slice(0, at).replace(/^\[|\]$/g, "")}.${end.slice(at + 1)}`;
}

/** `…56.789012 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [P.], seq 1:1449, ack 1, win 502, length 1448`: times in
 * seconds since the first packet, sequence numbers relative, the window in bytes. */
export function tcpdump(packets: Packets, row: number, flow: FlowRow): string {
  const data = packets.data[row] === 1;
  const [from, to] = data ? [flow.sender, flow.receiver] : [flow.receiver, flow.sender];
  const length = packets.len[row];
  const flags = packets.flags[row];
  const words = [`Flags [${flagWords(flags)}]`];
  if (length > 0) words.push(`seq ${packets.seq[row]}:${packets.seq[row] + length}`);
  else if ((flags & 0x07) !== 0) words.push(`seq ${packets.seq[row]}`);
  if (packets.ack[row] >= 0) words.push(`ack ${packets.ack[row]}`);
  if (packets.window[row] >= 0) words.push(`win ${packets.window[row]}`);
  const options = optionWords(packets, row);
  if (options.length > 0) words.push(`options [${options.join(",")}]`);
  words.push(`length ${length}`);
  const family = from.startsWith("[") ? "IP6" : "IP";
  return `${packets.time[row].toFixed(6)} ${family} ${dotted(from)} > ${dotted(to)}: ${words.join(", ")}`;
}

function optionWords(packets: Packets, row: number): string[] {
  const words: string[] = [];
  if (packets.tsVal[row] >= 0) words.push(`TS val ${packets.tsVal[row]} ecr ${Math.max(0, packets.tsEcr[row])}`);
  const blocks = packets.blocks(row);
  if (blocks.length > 0) {
    words.push(`sack ${blocks.length} ${blocks.map((b) => `{${b.start}:${b.end}}`).join("")}`);
  }
  return words;
}
