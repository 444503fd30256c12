/** What the analysis says of each packet that was sent again: table `retransmissions` of a flow. */

import type { Container } from "./container";

export interface Repair {
  /** What set it off, by which evidence, and what proves it needless; names of closed sets, "" for none. */
  trigger: string;
  evidence: string;
  proof: string;
  backoff: number;
}

/** Null if the packet is not in the table. */
export function repairOf({ header, columns }: Container, packet: number): Repair | null {
  const row = columns.get("packet")?.indexOf(packet as never) ?? -1;
  if (row < 0) return null;
  const number = (name: string): number => columns.get(name)?.[row] ?? 0;
  const word = (name: string): string => header.words?.[name]?.[number(name)] ?? "";
  return {
    trigger: word("trigger"),
    evidence: word("evidence"),
    proof: word("proof"),
    backoff: number("backoff"),
  };
}
