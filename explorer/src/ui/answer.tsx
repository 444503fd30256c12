/** The answer in words, each sentence with how sure it is and what it rests on. */

import type { Certainty, Detail } from "../data/meta";
import { plainSeconds } from "../draw/units";
import { inWords } from "../view/app";

export function AnswerPart({ detail }: { detail: Detail }): preact.JSX.Element {
  const { answer, row } = detail;
  if (answer === null) {
    return <p class="quiet">Too few segments, and nothing was sent again: there is nothing to tell of this flow.</p>;
  }
  return (
    <>
      <p class="look">
        <Sure certainty={answer.certainty} />
        <span>
          <b>Look at</b> {answer.look_at}
        </span>
      </p>
      {answer.findings.length > 0 && (
        <ul class="findings">
          {answer.findings.map((finding) => (
            <li key={finding.text}>
              <Sure certainty={finding.certainty} />
              <div>
                <span>{finding.text}</span>
                {finding.because && <small>{finding.because}</small>}
              </div>
              <span class="cost">{finding.cost_s === null ? "" : plainSeconds(finding.cost_s)}</span>
            </li>
          ))}
        </ul>
      )}
      {answer.limits.length > 0 && (
        <p class="quiet">
          Not shown {row.vantage === "unknown" ? "here" : inWords("vantage", row.vantage)}: {answer.limits.join("; ")}
        </p>
      )}
    </>
  );
}

export function Sure({ certainty }: { certainty: Certainty }): preact.JSX.Element {
  return <span class={`sure sure-${certainty}`}>{inWords("certainty", certainty)}</span>;
}
