/** The steps of a ladder in words: for whoever cannot see the drawing, or wants to copy it. */

import { useState } from "preact/hooks";
import { isFolded, labelOf, remarkOf, type Step } from "../ladder/steps";
import { inWords } from "../view/app";
import { More } from "./more";

const AT_ONCE = 400;

interface Props {
  steps: readonly Step[];
  selected: Step | null;
  proves: ReadonlySet<Step>;
  onPick: (step: Step) => void;
  onToggle: (step: Step) => void;
}

export function StepTable({ steps, selected, proves, onPick, onToggle }: Props): preact.JSX.Element {
  const [most, show] = useState(AT_ONCE);
  return (
    <div class="ladder-steps" tabIndex={0} role="region" aria-label="Steps in words">
      <table class="list">
        <caption>{steps.length} steps</caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              at s
            </th>
            <th scope="col">step</th>
          </tr>
        </thead>
        <tbody>
          {steps.slice(0, most).map((step) => (
            <tr
              key={`${step.toReceiver}-${step.rows[0] ?? step.first}-${step.kind}`}
              aria-current={step === selected ? "true" : undefined}
              class={proves.has(step) ? "proves" : ""}
            >
              <td class="number">{step.first.toFixed(4)}</td>
              <td>
                <button type="button" class="link plain" onClick={() => onPick(step)}>
                  {step.toReceiver ? "→ " : "← "}
                  {labelOf(step)}
                </button>
                <span class="remark">
                  {[remarkOf(step, (cause) => inWords("cause", cause)), proves.has(step) ? "proves the selected" : ""]
                    .filter(Boolean)
                    .join(", ")}
                </span>
                {isFolded(step) && step.rows.length > 1 && (
                  <button type="button" class="link" onClick={() => onToggle(step)}>
                    unfold
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={most} of={steps.length} step={AT_ONCE} noun="steps" more={() => show(most + AT_ONCE)} />
    </div>
  );
}
