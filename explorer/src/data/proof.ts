/** Which packets show why a segment was sent again: what went before it, and what the receiver said. */

import type { Packets } from "./packets";
import { seconds } from "../draw/units";

export interface Proof {
  /** Earlier copies of the same data, oldest first. */
  copies: number[];
  /** ACKs between the copy before and this one that told of data behind a hole, or repeated themselves. */
  told: number[];
  /** The packet of the sender before this one: how long it had been silent. */
  before: number;
  /** The first ACK afterwards that says the data was there already. */
  needless: number;
  sentences: string[];
}

/** Null for a packet that was not sent again. Rows throughout. */
export function proofOf(packets: Packets, row: number, words: (cause: string) => string): Proof | null {
  const cause = packets.causes[packets.cause[row]] ?? "";
  if (packets.data[row] !== 1 || cause === "") return null;
  const seq = packets.seq[row];
  const end = seq + packets.len[row];
  const copies: number[] = [];
  let before = -1;
  for (let i = row - 1; i >= 0; i--) {
    if (packets.data[i] !== 1 || packets.len[i] === 0) continue;
    if (before < 0) before = i;
    if (packets.seq[i] < end && packets.seq[i] + packets.len[i] > seq) {
      copies.unshift(i);
      // What was sent for the first time has no copy before it.
      if (packets.cause[i] === 0 && packets.seq[i] <= seq) break;
    }
  }
  const told = toldOf(packets, row, seq, copies[copies.length - 1] ?? -1);
  const needless = packets.needless[row] === 1 ? answeredAt(packets, row, seq, end) : -1;
  return {
    copies,
    told,
    before,
    needless,
    sentences: sentencesOf(packets, row, words(cause), { copies, told, before, needless }),
  };
}

function toldOf(packets: Packets, row: number, seq: number, since: number): number[] {
  const told: number[] = [];
  if (since < 0) return told;
  let newest = -1;
  for (let i = since + 1; i < row; i++) {
    if (packets.data[i] === 1 || packets.ack[i] < 0 || packets.ack[i] > seq) continue;
    const behind = packets.blocks(i).some((block) => block.start > seq);
    // A duplicate ACK asks for the segment at its own number and for no other.
    const asks = packets.ack[i] === seq && packets.ack[i] === newest && packets.len[i] === 0;
    if (behind || asks) told.push(i);
    newest = Math.max(newest, packets.ack[i]);
  }
  return told;
}

/** The DSACK for [seq, end), else the first ACK that passes it. */
function answeredAt(packets: Packets, row: number, seq: number, end: number): number {
  let passed = -1;
  for (let i = row + 1; i < packets.n; i++) {
    if (packets.data[i] === 1) continue;
    const first = packets.blocks(i)[0];
    if (packets.dsack[i] === 1 && first !== undefined && first.start < end && first.end > seq) return i;
    if (passed < 0 && packets.ack[i] >= end) passed = i;
    if (passed >= 0 && i > passed + 2000) break;
  }
  return passed;
}

function sentencesOf(
  packets: Packets,
  row: number,
  cause: string,
  proof: Omit<Proof, "sentences">,
): string[] {
  const { copies, told, before, needless } = proof;
  const at = packets.time[row];
  const name = (i: number): string => `packet ${packets.packet[i]}`;
  const found = [`sent again by ${cause}: copy ${copies.length + 1} of this data`];
  const copy = copies[copies.length - 1];
  if (copy !== undefined) {
    const fate = packets.lost[copy] === 1 ? ", and was lost" : "";
    found.push(`the copy before (${name(copy)}) left ${seconds(at - packets.time[copy])} earlier${fate}`);
  }
  if (told.length > 0) {
    const last = told[told.length - 1];
    const many = told.length === 1 ? "one ACK" : `${told.length} ACKs`;
    found.push(
      `${many} in between told of data behind it, the last (${name(last)}) ${seconds(at - packets.time[last])} before`,
    );
  } else if (copy !== undefined) found.push("no ACK in between told of data behind it");
  if (before >= 0) {
    found.push(`its sender had sent nothing for ${seconds(at - packets.time[before])}`);
  }
  if (needless >= 0) {
    const how = packets.dsack[needless] === 1 ? "a DSACK says" : "an ACK shows";
    found.push(`needless: ${how} that the data had arrived already (${name(needless)})`);
  } else if (packets.needless[row] === 1) found.push("needless: the data had arrived already");
  return found;
}
