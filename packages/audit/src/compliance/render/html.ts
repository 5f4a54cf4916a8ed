import { checkArgument } from 'assize/internal/base';
import type { Example } from '../evidence/tally.ts';
import type { Status } from '../measures/measure.ts';
import type { ClauseReport, ComplianceReport, FrameworkReport, MeasureReport } from '../report.ts';
import { html } from './escape.ts';
import { REPORT } from './report-form.ts';
import {
  bundleCommand,
  checkpointText,
  emptyText,
  entriesText,
  periodText,
  placeText,
  sumText,
  trajectoriesText,
} from './words.ts';

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:2px solid #ccc}h3{font-size:1rem;margin:1.6rem 0 .2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;table-layout:fixed}td,th{border:1px solid #ccc;padding:.35rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th:first-child,td:first-child{width:7rem}code{font-size:.85em}ul{margin:.3rem 0;padding-left:1.1rem;font-size:.85em}
.status{font-weight:600}.gap{color:#a40000}.shown{color:#0a5c2f}.none{color:#555}.remedy{margin:.3rem 0 0}small{display:block}
@media print{body{margin:0;max-width:none;font-size:11px}tr,h3{break-inside:avoid}h3{break-after:avoid}}`;

/**
 * The report as one file without scripts or links to other files, to read, print and keep. Text of
 * the ledger is escaped.
 *
 * @throws ArgumentError `bad_argument`
 */
export function reportHtml(report: ComplianceReport): string {
  checkArgument(REPORT, report, 'report');
  const empty = emptyText(report);
  const { log, note, gaps, valid, faults, frameworks } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Compliance report at ${entriesText(log.size)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Compliance report</h1>
${empty === undefined ? '' : `<p class="gap">${html(empty)}</p>\n`}<p>${html(note)}</p>
<dl>
${fact('Period', periodText(report))}
${fact('Trajectories', trajectoriesText(report))}
${fact('Log', `${entriesText(log.size)}, root ${log.root}`)}
${fact('Looks to', log.as_of ?? 'no entry')}
${fact('Checkpoint', checkpointText(report))}
${fact('Verification', valid ? 'all entries in scope verify' : 'THE LEDGER HAS FAULTS')}
${fact('Gaps', `${gaps}`)}
</dl>
${faults.length === 0 ? '' : `<ul>\n${faults.map(({ code, detail }) => `<li class="gap">${html(`${detail} (${code})`)}</li>`).join('\n')}\n</ul>\n`}${frameworks.map(frameworkHtml).join('\n')}
</body>
</html>
`;
}

function fact(name: string, value: string): string {
  return `<dt>${html(name)}</dt><dd>${html(value)}</dd>`;
}

function frameworkHtml({ title, clauses }: FrameworkReport): string {
  return `<h2>${html(title)}</h2>\n<p>${html(sumText(clauses))}</p>\n${clauses.map(clauseHtml).join('\n')}`;
}

function clauseHtml({ id, title, asks, status, measures }: ClauseReport): string {
  return `<h3>${html(id)} ${html(title)}: ${statusHtml(status)}</h3>
<p>${html(asks)}</p>
<table>
<tr><th>Status</th><th>Evidence</th></tr>
${measures.map(measureHtml).join('\n')}
</table>`;
}

function measureHtml({
  title,
  status,
  figure,
  examples = [],
  remedy,
  proof,
}: MeasureReport): string {
  const api = proof.api === undefined ? '' : `, or <code>${html(proof.api)}</code>`;
  return `<tr><td>${statusHtml(status)}</td><td>${html(title)}: <strong>${html(figure)}</strong>${
    remedy === undefined ? '' : `<p class="remedy">To close the gap: ${html(remedy)}</p>`
  }${examples.length === 0 ? '' : `<ul>${examples.map(exampleHtml).join('')}</ul>`}
<small>Check: <code>${html(proof.command)}</code>${api}</small></td></tr>`;
}

function exampleHtml(example: Example): string {
  const note = example.note === undefined ? '' : `: ${html(example.note)}`;
  return `<li>${html(placeText(example))}${note}<br><code>${html(bundleCommand(example))}</code></li>`;
}

function statusHtml(status: Status): string {
  return `<span class="status ${html(status)}">${html(status)}</span>`;
}
