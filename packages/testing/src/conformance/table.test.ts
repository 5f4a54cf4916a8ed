import { expect, test } from 'vitest';
import type { ConformanceReport } from './run-conformance.ts';
import { conformanceMarkdown } from './table.ts';
import { unjudgedReport } from './unjudged-report.ts';

const none = { findings: [], effects: [], reasons: [] };

const reports: ConformanceReport[] = [
  {
    ...{ driver: 'A|B', versions: { a: '1.0.0' }, isConforming: false },
    verdicts: [
      { ...none, scenario: 'approved-once', verdict: 'pass' },
      { ...none, scenario: 'expired', verdict: 'n.a.', reasons: ['it has no expiry'] },
    ],
  },
  {
    ...{ driver: 'C', versions: { c: '2.0.0', d: '3.0.0' }, isConforming: false },
    verdicts: [
      { ...none, scenario: 'approved-once', verdict: 'pass' },
      {
        ...none,
        scenario: 'expired',
        verdict: 'fail',
        findings: [{ kind: 'made-twice', text: 'p1 was made 3 times' }],
      },
    ],
  },
];

test('a table has a row for each scenario, and a column for each driver', () => {
  expect(conformanceMarkdown(reports)).toBe(`|  | A\\|B | C |
| --- | --- | --- |
| \`approved-once\`: a call is approved | pass | pass |
| \`expired\`: the approval comes after the question has expired | n.a. | fail: made twice |

- **A|B**: \`a\` 1.0.0; \`expired\`: it has no expiry.
- **C**: \`c\` 2.0.0, \`d\` 3.0.0.
`);
});

test('a driver that did not run is a column of errors', () => {
  const lost = unjudgedReport({ driver: 'D', reason: 'it ended', scenarios: ['expired'] });
  const [first] = reports as [ConformanceReport];
  expect(conformanceMarkdown([first, lost])).toBe(`|  | A\\|B | D |
| --- | --- | --- |
| \`approved-once\`: a call is approved | pass | error |
| \`expired\`: the approval comes after the question has expired | n.a. | error |

- **A|B**: \`a\` 1.0.0; \`expired\`: it has no expiry.
- **D**: the driver did not run.
`);
});
