import { expect, test } from 'vitest';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';
import { startWitness } from '../../../../tests/support/server/witness.ts';

const AUDITOR = 'auditor:eve' as const;

test('a report has the last checkpoint with its witnesses, and names entries', async () => {
  const witness = await startWitness();
  const server = await start({ server: { witnesses: [witness] } });
  const waiting = await succeed(server, 'proposals.create', pay('b', 200, 'k'));
  const asked = { path: { framework: 'owasp-threats' }, as: AUDITOR } as const;
  const measuresOf = (report: any): any[] =>
    report.frameworks[0].clauses.flatMap((clause: any) => clause.measures);
  const statusOf = (report: any, id: string): any =>
    measuresOf(report).find((measure) => measure.id === id)?.status;
  const before = await succeed(server, 'reports.make', asked);
  expect([statusOf(before, 'records.checkpoint'), statusOf(before, 'records.witness')]).toEqual([
    'gap',
    'gap',
  ]);
  await succeed(server, 'checkpoints.create');
  const report = await succeed(server, 'reports.make', asked);
  expect([statusOf(report, 'records.checkpoint'), statusOf(report, 'records.witness')]).toEqual([
    'shown',
    'shown',
  ]);
  expect(report.log.checkpoint.cosigned).toMatchObject([{ name: 'witness.example' }]);
  const escalated = measuresOf(report).find(({ id }) => id === 'control.escalated');
  expect(escalated.examples).toMatchObject([{ id: waiting.approval_id, trajectory_id: 'main' }]);
  await witness.stop();
});

test('the page of one size is the same after the log has grown', async () => {
  const server = await start();
  const asked = { path: { framework: 'all' }, as: AUDITOR } as const;
  const { log } = await succeed(server, 'reports.make', asked);
  const again = { ...asked, query: { size: String(log.size) } } as const;
  const page = await succeed(server, 'reports.page', again);
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  expect(await succeed(server, 'reports.page', again)).toBe(page);
  expect(await succeed(server, 'reports.page', asked)).not.toBe(page);
});

test.each([
  [{ since: 'May' }, 400, 'invalid_request', ''],
  [{ since: '2026-05-01', until: '2026-05-01' }, 400, 'bad_argument', 'before the end'],
  [{ size: 'x' }, 400, 'invalid_request', ''],
  [{ size: '9999' }, 404, 'not_found', 'The log has'],
  [{ trajectory: 'nothing' }, 404, 'not_found', 'no trajectory'],
])('a report of %j is refused with %i %s', async (query, status, code, part) => {
  const server = await start();
  for (const id of ['reports.make', 'reports.page'])
    expect(
      await callOperation(server, id, {
        path: { framework: 'all' },
        as: AUDITOR,
        query: query as never,
      }),
    ).toMatchObject({ status, body: { code, detail: expect.stringContaining(part) } });
});
