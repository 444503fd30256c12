/** The flow that can stand beside the one that is shown: the same at the other vantage point, or the other run's. */

import type { Meta } from "../data/meta";
import { type Clock, inverse } from "../data/clock";

export interface Other {
  source: number;
  flow: number;
  label: string;
  clock: Clock;
}

export function otherOf(meta: Meta, source: number, flow: number): Other | null {
  return comparedWith(meta, source, flow) ?? otherEnd(meta, source, flow);
}

/** Times of compared runs count from each flow's first packet. */
function comparedWith(meta: Meta, source: number, flow: number): Other | null {
  const compared = meta.comparison?.flows ?? [];
  const at = compared.findIndex((of) => of.source === source && of.flow === flow);
  const other = compared[1 - at];
  if (at < 0 || other === undefined) return null;
  const start = (of: { source: number; flow: number }): number =>
    meta.sources.find((s) => s.id === of.source)?.details.find((d) => d.flow === of.flow)?.row.start_s ?? 0;
  return {
    source: other.source,
    flow: other.flow,
    label: meta.comparison?.labels[1 - at] ?? "",
    clock: { rate: 1, shift: start(compared[at]) - start(other) },
  };
}

/** With two captures of one transfer; null where their clocks are not known against each other. */
function otherEnd(meta: Meta, source: number, flow: number): Other | null {
  const here = meta.sources.find((s) => s.id === source);
  const there = meta.sources.find((s) => s.id !== source);
  if (meta.sources.length !== 2 || here === undefined || there === undefined) return null;
  const clock = there.clock ? clockOf(there.clock) : here.clock ? inverse(clockOf(here.clock)) : null;
  const at = here.flows.columns.flow.indexOf(flow);
  if (clock === null || at < 0) return null;
  const { columns } = there.flows;
  const same = columns.sender.findIndex(
    (sender, k) => sender === here.flows.columns.sender[at] && columns.receiver[k] === here.flows.columns.receiver[at],
  );
  return same < 0 ? null : { source: there.id, flow: columns.flow[same], label: there.label, clock };
}

function clockOf({ rate, shift_ns }: { rate: number; shift_ns: number }): Clock {
  return { rate, shift: shift_ns / 1e9 };
}
