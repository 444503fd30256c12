/** All flows: searched, sorted, by pair of hosts; only the rows in sight are in the page. */

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Asked, type FlowKey, tableRows, type TableRow } from "../data/flowrows";
import type { FlowColumns, Source } from "../data/meta";
import { hueOf } from "../draw/palette";
import { count, grouped, plainSeconds, rate, seconds, size } from "../draw/units";
import { go, inWords, palette, place } from "../view/app";

const ROW = 26;
/** Up to this many rows the table is as high as they are. */
const OPEN_ROWS = 14;

interface Shown {
  key: FlowKey;
  words: string;
  number: boolean;
  show: (columns: FlowColumns, at: number) => string;
}

const known = (value: number | null, words: (value: number) => string): string => (value === null ? "–" : words(value));

const COLUMNS: Shown[] = [
  { key: "flow", words: "flow", number: true, show: (c, i) => String(c.flow[i] + 1) },
  { key: "sender", words: "sender", number: false, show: (c, i) => c.sender[i] },
  { key: "receiver", words: "receiver", number: false, show: (c, i) => c.receiver[i] },
  { key: "episodes", words: "episodes", number: true, show: (c, i) => grouped(c.episodes[i]) },
  { key: "lost_copies", words: "lost", number: true, show: (c, i) => known(c.lost_copies[i], grouped) },
  { key: "retransmitted_segments", words: "sent again", number: true, show: (c, i) => grouped(c.retransmitted_segments[i]) },
  { key: "timeouts", words: "timeouts", number: true, show: (c, i) => grouped(c.timeouts[i]) },
  { key: "bytes", words: "data", number: true, show: (c, i) => size(c.bytes[i]) },
  { key: "duration_s", words: "took", number: true, show: (c, i) => seconds(c.duration_s[i]) },
  { key: "throughput_bps", words: "throughput", number: true, show: (c, i) => known(c.throughput_bps[i], rate) },
  { key: "cause", words: "cause", number: false, show: (c, i) => causeWords(c.cause[i]) },
  { key: "cause_s", words: "its time", number: true, show: (c, i) => (c.cause_s[i] ? plainSeconds(c.cause_s[i]) : "") },
];

/** Where most of the time of its connection went. */
function causeWords(cause: string | null): string {
  return cause === null ? "" : inWords("answer_cause", cause);
}

export function FlowTable({ source }: { source: Source }): preact.JSX.Element {
  const { columns, left_out } = source.flows;
  const [asked, ask] = useState<Asked>({ text: "", by: "rank", descending: false, grouped: false });
  const rows = useMemo(() => tableRows(columns, asked), [columns, asked]);
  const total = columns.flow.length + left_out;
  const sort = (by: FlowKey): void =>
    ask({ ...asked, by, descending: asked.by === by ? !asked.descending : typeof columns[by][0] !== "string" });
  return (
    <section aria-labelledby="flows-title" class="flows">
      <div class="heading">
        <h2 id="flows-title">{count(total, "flow")}</h2>
        <input
          type="search"
          aria-label="Search flows by address, port or number"
          placeholder="Search address, port, number"
          value={asked.text}
          onInput={(event) => ask({ ...asked, text: event.currentTarget.value })}
        />
        <label>
          <input
            type="checkbox"
            checked={asked.grouped}
            onChange={(event) => ask({ ...asked, grouped: event.currentTarget.checked })}
          />
          by pair of hosts
        </label>
        {left_out > 0 && <span class="quiet">{count(left_out, "lesser flow")} not listed</span>}
        {asked.text !== "" && <span class="quiet">{count(rows.filter((r) => "place" in r).length, "match", "matches")}</span>}
      </div>
      <Rows columns={columns} rows={rows} asked={asked} sort={sort} source={source} />
    </section>
  );
}

interface RowsProps {
  columns: FlowColumns;
  rows: TableRow[];
  asked: Asked;
  sort: (by: FlowKey) => void;
  source: Source;
}

function Rows({ columns, rows, asked, sort, source }: RowsProps): preact.JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const items = useVirtual(box, rows.length);
  const height = Math.min(rows.length, OPEN_ROWS) * ROW + ROW + 2;
  const first = items[0]?.index ?? 0;
  const last = items[items.length - 1]?.index ?? -1;
  return (
    <div class="scroll" ref={box} style={{ height: `${height}px` }} tabIndex={0} role="region" aria-label="Table of flows">
      <table class="list flow-list" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map(({ key, words, number }) => (
              <th
                key={key}
                scope="col"
                class={number ? "number" : ""}
                aria-sort={asked.by === key ? (asked.descending ? "descending" : "ascending") : undefined}
              >
                <button type="button" onClick={() => sort(key)}>
                  {words}
                  {asked.by === key ? (asked.descending ? " ↓" : " ↑") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space high={first * ROW} />
          {items.map(({ index }) => (
            <Line key={index} row={rows[index]} index={index} columns={columns} source={source} />
          ))}
          <Space high={(rows.length - 1 - last) * ROW} />
        </tbody>
      </table>
    </div>
  );
}

function Space({ high }: { high: number }): preact.JSX.Element | null {
  if (high <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={COLUMNS.length} style={{ height: `${high}px`, padding: 0, border: 0 }} />
    </tr>
  );
}

interface LineProps {
  row: TableRow | undefined;
  index: number;
  columns: FlowColumns;
  source: Source;
}

function Line({ row, index, columns, source }: LineProps): preact.JSX.Element | null {
  if (row === undefined) return null;
  if ("pair" in row) {
    const bytes = row.flows.reduce((sum, at) => sum + columns.bytes[at], 0);
    return (
      <tr class="pair" aria-rowindex={index + 2}>
        <th scope="rowgroup" colSpan={COLUMNS.length}>
          {row.pair} <span class="quiet">{`${count(row.flows.length, "flow")}, ${size(bytes)}`}</span>
        </th>
      </tr>
    );
  }
  const at = row.place;
  const id = columns.flow[at];
  const chosen = place.value.flow === id && place.value.source === source.id;
  const cause = columns.cause[at];
  return (
    <tr class={chosen ? "chosen" : ""} aria-rowindex={index + 2} onClick={() => go({ source: source.id, flow: id })}>
      {COLUMNS.map(({ key, number, show }) => (
        <td key={key} class={number ? "number" : ""}>
          {key === "cause" && cause !== null && <i class="swatch" style={{ background: hueOf(palette.value, "answer_cause", cause) }} />}
          {key === "flow" ? (
            <button type="button" class="link" aria-pressed={chosen} aria-label={`Summary of flow ${id + 1}`}>
              {id + 1}
            </button>
          ) : (
            show(columns, at)
          )}
        </td>
      ))}
    </tr>
  );
}

/** The rows in sight, and a few around them. */
function useVirtual(box: { current: HTMLDivElement | null }, rows: number): { index: number }[] {
  const [, redraw] = useState(0);
  const options = {
    count: rows,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
    initialRect: { width: 800, height: ROW * (OPEN_ROWS + 1) },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((n) => n + 1),
  };
  const made = useRef<Virtualizer<HTMLDivElement, Element> | null>(null);
  made.current ??= new Virtualizer<HTMLDivElement, Element>(options);
  const virtual = made.current;
  virtual.setOptions(options);
  useEffect(() => virtual._didMount(), [virtual]);
  useEffect(() => virtual._willUpdate());
  return virtual.getVirtualItems();
}
