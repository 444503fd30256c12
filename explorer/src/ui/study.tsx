/** A study: its figures beside the paper's printed numbers, what the paper says of them, and our drawings. */

import type { Claim, Statement, Study, StudyRow, Test, Value } from "../data/study";
import { count, grouped, three } from "../draw/units";
import { meta } from "../view/app";

export function StudyPage(): preact.JSX.Element {
  const study = meta().study as unknown as Study | null;
  if (study === null) return <p>This report holds no study.</p>;
  const grades = Object.entries(study.grades).filter(([, n]) => n > 0);
  return (
    <>
      <h2>{study.title}</h2>
      <p class="facts">
        {count(study.replications, "replication")}
        {study.quick ? ", the quick version" : ""}
        {`; figures: ${grades.map(([grade, n]) => `${grouped(n)} ${gradeWords(study, grade)}`).join(", ")}`}
      </p>
      {study.failures.map((failure) => (
        <p class="failure" key={failure}>
          {failure}
        </p>
      ))}
      <Claims claims={study.claims} />
      <Statements study={study} statements={study.statements} />
      <Rows study={study} rows={study.rows} />
      {study.left_out.length > 0 && <p class="quiet">Left out: {study.left_out.join("; ")}</p>}
    </>
  );
}

function Rows({ study, rows }: { study: Study; rows: StudyRow[] }): preact.JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Figures with their grade">
      <table class="list study-rows">
        <caption>{count(rows.length, "figure")}, the paper’s and ours</caption>
        <thead>
          <tr>
            <th scope="col">figure</th>
            <th scope="col" class="number">paper</th>
            <th scope="col" class="number">rexmit</th>
            <th scope="col">unit</th>
            <th scope="col" class="number">interval</th>
            <th scope="col" class="number">n</th>
            <th scope="col">grade</th>
            <th scope="col">why not</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" title={row.definition}>
                {row.key}
              </th>
              <td class="number">{row.printed}</td>
              <td class="number">{besidePrinted(row.rexmit, row.printed)}</td>
              <td>{row.unit ?? ""}</td>
              <td class="number">{intervalWords(row)}</td>
              <td class="number">{row.n}</td>
              <td class={`grade ${row.reproduced ? "sure-known" : row.grade === "no" ? "bad" : ""}`}>
                {gradeWords(study, row.grade)}
              </td>
              <td>{row.why ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Claims({ claims }: { claims: Claim[] }): preact.JSX.Element | null {
  if (claims.length === 0) return null;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Verdicts">
      <table class="list claims">
        <caption>Verdicts; p corrected for everything that the study tests</caption>
        <thead>
          <tr>
            <th scope="col">claim</th>
            <th scope="col">verdict</th>
            <th scope="col">effect</th>
            <th scope="col">evidence</th>
            <th scope="col">tests</th>
          </tr>
        </thead>
        <tbody>
          {claims.map((claim) => (
            <tr key={claim.key}>
              <th scope="row">{claim.claim}</th>
              <td class={`grade ${claim.verdict === "holds" ? "sure-known" : claim.verdict === "fails" ? "bad" : ""}`}>
                {claim.verdict}
              </td>
              <td>{claim.effect_text ?? ""}</td>
              <td>
                {claim.evidence}
                {claim.reading !== null && <small> {claim.reading}</small>}
              </td>
              <td>
                {claim.tests.map((test, k) => (
                  <div key={k}>{testWords(test)}</div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function gradeWords(study: Study, grade: string): string {
  return study.grade_words?.[grade] ?? grade;
}

/** A test as the terminal has it: effect, interval or margin, runs, p. */
function testWords(test: Test): string {
  const unit = test.unit === null ? "" : ` ${test.unit}`;
  const found = test.effect === null ? [] : [`${test.what}: ${valueWords(test.effect)}${unit}${between(test.interval)}`];
  if (test.margin !== null) found.push(`alike within ${small(test.margin)}${unit}`);
  if (test.n !== null) found.push(`n ${grouped(test.n)}`);
  if (test.p_corrected !== null) found.push(`p ${valueWords(test.p_corrected)}`);
  return found.join(", ");
}

function between(interval: Test["interval"]): string {
  return interval === null ? "" : ` (${interval.map(valueWords).join(" to ")})`;
}

function Statements({ study, statements }: { study: Study; statements: Statement[] }): preact.JSX.Element {
  const figures = study.figures ?? [];
  return (
    <>
      {statements.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="What the paper says of its figures">
          <table class="list">
            <caption>What the paper says of its figures</caption>
            <thead>
              <tr>
                <th scope="col">figure</th>
                <th scope="col">the paper</th>
                <th scope="col">ours</th>
                <th scope="col">agrees</th>
              </tr>
            </thead>
            <tbody>
              {statements.map((of) => (
                <tr key={of.key}>
                  <th scope="row">{of.figure}</th>
                  <td>{of.statement}</td>
                  <td>{of.found}</td>
                  <td class={`grade ${of.agrees ? "sure-known" : of.agrees === false ? "bad" : ""}`}>
                    {of.agrees === null ? "cannot be told" : of.agrees ? "yes" : "no"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="study-figures">
        {figures.map(({ name, svg }) => (
          <figure key={name}>
            {/* As a picture: nothing in it can run or load anything. */}
            <img src={`data:image/svg+xml,${encodeURIComponent(svg)}`} alt={`rexmit’s figure ${name}`} loading="lazy" />
            <figcaption>{name}</figcaption>
          </figure>
        ))}
      </div>
    </>
  );
}

function valueWords(value: Value): string {
  if (value === null) return "–";
  if (Array.isArray(value)) return value.map(valueWords).join(", ");
  return typeof value === "number" ? small(value) : String(value);
}

function intervalWords({ interval, printed }: StudyRow): string {
  if (interval === null) return "";
  return interval.map((end) => (end === null ? "∞" : besidePrinted(end, printed))).join(" to ");
}

/** A number with the decimals that the paper printed: the grade is about these. */
function besidePrinted(value: Value, printed: string): string {
  const [, decimals] = /^-?[\d,]+\.(\d{1,9})$/.exec(printed) ?? [];
  return decimals === undefined || typeof value !== "number" ? valueWords(value) : grouped(value, decimals.length);
}

function small(value: number): string {
  return Number.isInteger(value) ? grouped(value) : three(value);
}
