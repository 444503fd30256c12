/** One bar for the time of a connection: each colour one cause, the longest first. */

import { causeName } from "../data/causes";
import type { Detail } from "../data/meta";
import { hueOf, inkOn } from "../draw/palette";
import { percent, plainSeconds } from "../draw/units";
import { inWords, palette } from "../view/app";

/** Less than this share of the time is nothing to look at. */
const SMALL = 5e-4;

export function CauseBar({ detail }: { detail: Detail }): preact.JSX.Element | null {
  const causes = (detail.answer?.causes ?? []).filter((one) => one.share >= SMALL).sort((a, b) => b.seconds - a.seconds);
  if (causes.length === 0) return null;
  const colour = (cause: string): string => hueOf(palette.value, "answer_cause", cause);
  return (
    <>
      <h3>Where the time went</h3>
      <div class="causes" aria-hidden="true">
        {causes.map((one) => (
          <span key={causeName(one)} style={{ width: `${one.share * 100}%`, background: colour(one.cause), color: inkOn(colour(one.cause)) }}>
            {one.share > 0.09 ? percent(one.share) : ""}
          </span>
        ))}
      </div>
      <table class="cause-list">
        <caption class="unseen">Where the time went, the cause with most of it first</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">cause</th>
            <th scope="col">share</th>
            <th scope="col">time</th>
            <th scope="col">how sure</th>
          </tr>
        </thead>
        <tbody>
          {causes.map((one) => (
            <tr key={causeName(one)}>
              <th scope="row">
                <i class="swatch" style={{ background: colour(one.cause) }} />
                {inWords("answer_cause", one.cause)}
                {one.by !== null && ` (${one.by})`}
              </th>
              <td class="number">{percent(one.share)}</td>
              <td class="number">{plainSeconds(one.seconds)}</td>
              <td>{inWords("certainty", one.certainty)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
