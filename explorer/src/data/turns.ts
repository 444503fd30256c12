/** Requests and answers of a connection: who sent when, and what each answer was waited for. */

import type { Container } from "./container";
import { NS } from "./packets";

/** In seconds. */
export interface Turn {
  host: string;
  start: number;
  /** Of its last new data. */
  end: number;
  bytes: number;
  /** From the end of the message before; null of the first one of a host that answers nothing. */
  waited: number | null;
  /** The message before is the other host's; else it is one of the same host. */
  answers: boolean;
  /** The part of it that the program of its host took, which is the last. */
  program: number;
}

/** In order of their beginnings. */
export function turnsOf({ header, columns }: Container): Turn[] {
  const of = (name: string): ArrayLike<number> => columns.get(name) ?? new Float64Array(header.rows);
  const [time, end, host, bytes] = [of("time_ns"), of("end_ns"), of("host"), of("bytes")];
  const [answers, waited, program] = [of("answers"), of("waited_us"), of("program_us")];
  const names = header.words?.["host"] ?? [];
  return Array.from({ length: header.rows }, (_, k) => ({
    host: names[host[k]] ?? "",
    start: time[k] / NS,
    end: end[k] / NS,
    bytes: bytes[k],
    waited: waited[k] < 0 ? null : waited[k] / 1e6,
    answers: answers[k] === 1,
    program: program[k] / 1e6,
  }));
}
