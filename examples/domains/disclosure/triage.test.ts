/** The second pipeline phase of Agentic Redux, Remark A.4: TRIAGED. */
import { expect, test } from 'vitest';
import { roles } from './processes.ts';
import { PHASES } from './schema.ts';
import { DIGEST, Office } from './testing/office.ts';

const entryOf = ({ state }: Office, id: string) => state.queue['acme']!['kernel']![id]!;

test('a vulnerability is triaged between its discovery and its report', async () => {
  expect(PHASES.slice(0, 3)).toEqual(['DISCOVERED', 'TRIAGED', 'REPORTED']);
  const office = await Office.open();
  await office.registered('a');
  expect(entryOf(office, 'a').phase).toBe('DISCOVERED');
  office.later({ hours: 1 });
  await office.done('triage_vulnerability', 'a', { note: 'it is in their parser' });
  expect(entryOf(office, 'a')).toMatchObject({
    phase: 'TRIAGED',
    triaged: { at: office.now, note: 'it is in their parser' },
  });
  await office.done('submit_report', 'a', { digest: DIGEST });
  expect(entryOf(office, 'a')).toMatchObject({
    phase: 'REPORTED',
    triaged: { note: 'it is in their parser' },
  });
});

test('triage rates what came unrated, and changes no other rating', async () => {
  const office = await Office.open();
  await office.done('register_vulnerability', 'a', { component: 'parser', severity: 'unrated' });
  await office.done('triage_vulnerability', 'a', { note: 'remote', severity: 'critical' });
  expect(office.state.severities['a']).toEqual({
    initial: 'critical',
    current: 'critical',
    revisions: [],
  });
  await office.registered('b');
  expect(
    await office.propose('triage_vulnerability', 'b', { note: 'harmless', severity: 'low' }),
  ).toMatchObject({
    reason: 'precondition_failed',
    detail: 'the severity of b is high already',
  });
  expect(entryOf(office, 'b').phase).toBe('DISCOVERED');
});

test('the desk triages, once, and only before a report', async () => {
  expect(roles.Intake.processes).toEqual(['RegisterVulnerability']);
  const office = await Office.open();
  await office.registered('a');
  await office.done('triage_vulnerability', 'a', { note: 'ours' });
  expect(await office.propose('triage_vulnerability', 'a', { note: 'again' })).toMatchObject({
    detail: 'a is TRIAGED already',
  });
  await office.registered('b');
  await office.done('submit_report', 'b', { digest: DIGEST });
  expect(await office.propose('triage_vulnerability', 'b', { note: 'late' })).toMatchObject({
    detail: 'b is REPORTED already',
  });
});
