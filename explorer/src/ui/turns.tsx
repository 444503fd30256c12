/** The turns as a table: who sent, after how long, and which part of that its program took. What stands for the strip where it
 * cannot be seen. */

import { useState } from "preact/hooks";
import type { FlowData } from "../data/flow";
import type { Turn } from "../data/turns";
import { count, grouped, seconds, size } from "../draw/units";
import { pathColour, programColour } from "../panels/turns";
import { lookAtTurn, palette } from "../view/app";
import { More } from "./more";

const STEP = 50;

export function TurnTable({ data, most }: { data: FlowData; most: number }): preact.JSX.Element | null {
  const [shown, show] = useState(most);
  const waits = data.turns.filter((turn) => turn.waited !== null).sort(byWait);
  if (waits.length === 0) return null;
  const few = waits.slice(0, shown);
  return (
    <>
      <table class="list turns">
        <caption>
          {waits.length > few.length ? `The ${few.length} longest waits of ${grouped(waits.length)}` : "Waits, the longest first"}
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              at s
            </th>
            <th scope="col">from</th>
            <th scope="col" class="number">
              size
            </th>
            <th scope="col" class="number">
              after
            </th>
            <th scope="col" class="number">
              <i class="swatch" style={{ background: programColour(palette.value) }} />
              program
            </th>
            <th scope="col" class="number">
              <i class="swatch" style={{ background: pathColour(palette.value) }} />
              path
            </th>
          </tr>
        </thead>
        <tbody>
          {few.map((turn) => (
            <Row key={`${turn.host} ${turn.start}`} turn={turn} />
          ))}
        </tbody>
      </table>
      <More shown={few.length} of={waits.length} step={STEP} noun="waits" more={() => show(shown + STEP)} />
    </>
  );
}

function Row({ turn }: { turn: Turn }): preact.JSX.Element {
  const waited = turn.waited ?? 0;
  const at = grouped(turn.start, 3);
  return (
    <tr>
      <td class="number">
        <button type="button" class="link" onClick={() => lookAtTurn(turn)} aria-label={`Show the message at ${at} s`}>
          {at}
        </button>
      </td>
      <td>
        {turn.host}
        {!turn.answers && " again"}
      </td>
      <td class="number">{size(turn.bytes)}</td>
      <td class="number">{seconds(waited)}</td>
      <td class="number">{seconds(turn.program)}</td>
      <td class="number">{seconds(Math.max(0, waited - turn.program))}</td>
    </tr>
  );
}

function byWait(a: Turn, b: Turn): number {
  return (b.waited ?? 0) - (a.waited ?? 0) || a.start - b.start;
}

/** Of each host how many answers there are, and the median of what they and its program took. */
export function turnsInWords(turns: readonly Turn[]): string {
  const of = (host: string): string => {
    const answers = turns.filter((turn) => turn.host === host && turn.answers);
    if (answers.length === 0) return "";
    const waits = median(answers.map(({ waited }) => waited ?? 0));
    const programs = median(answers.map(({ program }) => program));
    const middle = answers.length === 1 ? "" : " (median)";
    const other = host === "client" ? "server" : "client";
    const what = `${count(answers.length, "message")} in answer to the ${other}, ${seconds(waits)} after it${middle}`;
    return `The ${host} sent ${what}; its program took ${seconds(programs)} of that${middle}.`;
  };
  return [of("server"), of("client")].filter(Boolean).join(" ");
}

function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
