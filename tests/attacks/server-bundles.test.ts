import { expect, test, vi } from 'vitest';
import { verifyBundle } from '#bundle';
import { parseVerifierKey } from '#merkle';
import { OneAtATime } from '../../packages/audit/src/operations/one-at-a-time.ts';
import { callOperation, pay, succeed } from '../support/server/calling.ts';
import { start, type TestServer } from '../support/server/serving.ts';
import { startWitness } from '../support/server/witness.ts';

const PERIOD = { from: '2000-01-01', to: '2100-01-01' };

/** A server with a decided proposal, and a checkpoint. */
async function decided(): Promise<{ server: TestServer; approval: string; key: string }> {
  const server = await start();
  const { approval_id: approval } = await succeed(server, 'proposals.create', pay('b', 200, 'k'));
  const { approvals } = await succeed(server, 'approvals.list', {
    as: 'boss:ada',
    query: { mine: 'true' },
  });
  const { digest } = approvals[0];
  await succeed(server, 'approvals.approve', {
    as: 'boss:ada',
    path: { approval },
    body: { digest },
  });
  const { key } = await succeed(server, 'checkpoints.create');
  return { server, approval, key };
}

test('attack 69: a person’s history for a counselor or an agent: 403', async () => {
  const { server, approval } = await decided();
  const code = async (as: any, query: Record<string, string>): Promise<string> => {
    const { status, body } = await callOperation(server, 'bundles.make', { as, query });
    return `${status} ${body?.code ?? 'made'}`;
  };
  expect(await code('boss:ada', { person: 'agent:scout' })).toBe('403 forbidden');
  expect(await code('boss:ada', PERIOD)).toBe('403 forbidden');
  expect(await code('agent:scout', { approval })).toBe('403 forbidden');
  expect(await code('boss:ada', { approval })).toBe('200 made');
  // The decision leads to the request, and so does its place.
  expect(await code('boss:ada', { approval: 'main@2' })).toBe('200 made');
  expect(await code('boss:ada', { approval: 'main@0' })).toBe('404 not_found');
  expect(await code('auditor:eve', { person: 'agent:scout' })).toBe('200 made');
});

test('a bundle of the server verifies with the key of its log', async () => {
  const { server, approval, key } = await decided();
  const turns = vi.spyOn(OneAtATime.prototype, 'run');
  const url = `${server.url}/v1/bundles?approval=${approval}`;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${server.tokens['auditor:eve']}` },
  });
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="assize-proof-approval-${approval.slice(0, 8)}.zip"`,
  });
  expect(turns).toHaveBeenCalledTimes(1);
  const zip = new Uint8Array(await response.arrayBuffer());
  const verdict = await verifyBundle(zip, { logKey: parseVerifierKey(key) });
  expect(verdict).toMatchObject({ valid: true, inScope: [approval] });
  const steps = verdict.valid && (verdict.records as any).approvals[0].steps;
  expect(steps).toMatchObject([{ kind: 'commit', by: { principal: 'boss:ada' } }]);
});

test('a bundle names the witnesses that cosigned, and verifies with their keys', async () => {
  const witness = await startWitness();
  const server = await start({ server: { witnesses: [witness] } });
  const { entry_id: entry } = await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const { key } = await succeed(server, 'checkpoints.create');
  const headers = { authorization: `Bearer ${server.tokens['auditor:eve']}` };
  const response = await fetch(`${server.url}/v1/bundles?entry=${entry}`, { headers });
  const zip = new Uint8Array(await response.arrayBuffer());
  const trusted = { logKey: parseVerifierKey(key), witnesses: [parseVerifierKey(witness.key)] };
  expect(await verifyBundle(zip, trusted)).toMatchObject({
    valid: true,
    witnesses: ['witness.example'],
  });
});

test('a bundle needs a checkpoint, and one scope', async () => {
  const server = await start();
  const { entry_id: entry } = await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const refused = async (query: Record<string, string>): Promise<string> => {
    const { status, body } = await callOperation(server, 'bundles.make', {
      as: 'auditor:eve',
      query,
    });
    return `${status} ${body.code}`;
  };
  expect(await refused({ entry })).toBe('409 not_checkpointed');
  await succeed(server, 'checkpoints.create');
  const { entry_id: later } = await succeed(server, 'proposals.create', pay('a', 1, 'l'));
  expect(await refused({ entry: later })).toBe('409 not_checkpointed');
  expect(await refused({ entry: 'main@99' })).toBe('404 not_found');
  expect(await refused({ approval: entry })).toBe('404 not_found');
  expect(await refused({ person: 'nobody:here' })).toBe('404 not_found');
  for (const query of [
    {},
    { entry, person: 'x' },
    { entry, ...PERIOD },
    { from: '2026-01-01' },
    { from: PERIOD.to, to: PERIOD.from },
    { from: 'soon', to: 'later' },
  ])
    expect(await refused(query), JSON.stringify(query)).toBe('400 invalid_request');
});
