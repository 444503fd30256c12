/** One bar for the time of the transfer: each colour one limit, the longest first. */

import type { Detail, LimitPart } from "../data/meta";
import { inkOn } from "../draw/palette";
import { percent, plainSeconds, rate } from "../draw/units";
import { inWords, palette } from "../view/app";

export interface LimitSum {
  limit: string;
  seconds: number;
  share: number;
  parts: LimitPart[];
}

/** Without what came after the last data. */
export function limitSums(parts: readonly LimitPart[]): LimitSum[] {
  const told = parts.filter((part) => part.detail !== "done");
  const total = told.reduce((sum, part) => sum + part.seconds, 0);
  const found = new Map<string, LimitPart[]>();
  for (const part of told) found.set(part.limit, [...(found.get(part.limit) ?? []), part]);
  return [...found]
    .map(([limit, of]) => {
      const seconds = of.reduce((sum, part) => sum + part.seconds, 0);
      return { limit, seconds, share: total > 0 ? seconds / total : 0, parts: of };
    })
    .sort((a, b) => b.seconds - a.seconds);
}

/** Less than this share of the time is nothing to look at. */
const SMALL = 5e-4;

export function LimitBar({ detail }: { detail: Detail }): preact.JSX.Element | null {
  const sums = limitSums(detail.answer?.limited_by ?? []).filter((sum) => sum.share >= SMALL);
  if (sums.length === 0) return null;
  const colours = palette.value.limit;
  return (
    <>
      <h3>What limited the transfer</h3>
      <div class="limits" aria-hidden="true">
        {sums.map(({ limit, share }) => (
          <span
            key={limit}
            style={{ width: `${share * 100}%`, background: colours[limit], color: inkOn(colours[limit] ?? "#888888") }}
          >
            {share > 0.09 ? percent(share) : ""}
          </span>
        ))}
      </div>
      <table class="limit-list">
        <caption class="unseen">What limited the transfer, the longest first</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">limited by</th>
            <th scope="col">share</th>
            <th scope="col">time</th>
            <th scope="col">how</th>
          </tr>
        </thead>
        <tbody>
          {sums.map(({ limit, share, seconds, parts }) => (
            <tr key={limit}>
              <th scope="row">
                <i class="swatch" style={{ background: colours[limit] }} />
                {inWords("limited_by", limit)}
              </th>
              <td class="number">{percent(share)}</td>
              <td class="number">{plainSeconds(seconds)}</td>
              <td>
                {parts
                  .filter((part) => part.seconds >= 0.1 * seconds)
                  .map((part) => inWords("limit_detail", part.detail) + (part.bps ? ` at ${rate(part.bps)}` : ""))
                  .join(", ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
