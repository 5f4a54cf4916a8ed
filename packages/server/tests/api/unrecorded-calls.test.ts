/** Calls that hooks let through without the server are recorded when it is back, once. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gateway, readRules } from '@assize/gate/unstable/gateway';
import type { Domain } from 'assize/internal/kernel';
import { expect, onTestFinished, test } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';

const RULES = 'id: x\nmode: observe\nuntil: 2099-01-01\n';
const { rules } = readRules(RULES);
const noted = (at: string, agent: string) =>
  `${JSON.stringify({ at, agent, call: 's.1', tool: 'x/y' })}\n`;

async function serving() {
  const folder = mkdtempSync(join(tmpdir(), 'assize-unrecorded-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'assize.unrecorded.jsonl');
  writeFileSync(join(folder, 'assize.yaml'), RULES);
  const server = await start({
    config: {
      ...{ worlds: { calls: { domain: 'gateway' } }, tools: [] },
      policy: join(folder, 'assize.yaml'),
    },
    ...{ rules, domains: [gateway({ rules }) as unknown as Domain] },
    principals: {
      'agent:codex': { kinds: ['agent'], grants: [{ actions: ['call', 'begin', 'session'] }] },
      'auditor:eve': { kinds: ['auditor'] },
    } as never,
  });
  const token = await server.tokenFor('agent:codex');
  const eve = await server.tokenFor('auditor:eve');
  const call = (tool_use_id: string) =>
    server.ask('POST', '/v1/trajectories/calls/hooks/codex?wait=0', {
      token,
      body: {
        ...{ hook_event_name: 'PreToolUse', session_id: 's', tool_use_id, cwd: folder },
        ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
      },
    });
  const gaps = async () => {
    const path = '/v1/trajectories/calls/rules/report';
    return (await server.ask('GET', path, { token: eve })).body.gaps;
  };
  return { file, call, gaps };
}

test('the next event records them with their times, and the file is gone', async () => {
  const { file, call, gaps } = await serving();
  await call('t1');
  expect(await gaps()).toEqual([]);
  writeFileSync(
    file,
    noted('2026-03-01T10:00:00.000000Z', 'codex') +
      noted('2026-03-01T09:00:00.000000Z', 'claude-code') +
      noted('2026-03-01T11:00:00.000000Z', 'codex'),
  );
  await Promise.all([call('t2'), call('t3')]);
  const found = {
    ...{ from: '2026-03-01T09:00:00.000000Z', to: '2026-03-01T11:00:00.000000Z', calls: 3 },
    agents: { codex: 2, 'claude-code': 1 },
  };
  expect(await gaps()).toMatchObject([found]);
  expect(existsSync(file) || existsSync(`${file}.taken`)).toBe(false);
  await call('t4');
  expect(await gaps()).toHaveLength(1);
});

test('a file that a crash left behind is recorded first, and only once', async () => {
  const { file, call, gaps } = await serving();
  const text = noted('2026-03-01T10:00:00.000000Z', 'codex');
  for (let times = 0; times < 2; times++) {
    writeFileSync(`${file}.taken`, text);
    await call(`t${times}`);
  }
  expect(await gaps()).toHaveLength(1);
  writeFileSync(`${file}.taken`, noted('2026-03-02T10:00:00.000000Z', 'codex'));
  writeFileSync(file, noted('2026-03-03T10:00:00.000000Z', 'codex'));
  await call('t2');
  await call('t3');
  expect((await gaps()).map(({ from }: any) => from.slice(0, 10))).toEqual([
    '2026-03-03',
    '2026-03-02',
    '2026-03-01',
  ]);
});

test('lines that no hook wrote are counted, and their words are not recorded', async () => {
  const { file, call, gaps } = await serving();
  writeFileSync(file, `\u0000\n{"at":"${'x'.repeat(99)}","agent":"human:grace"}\n[]\n`);
  await call('t1');
  expect(await gaps()).toMatchObject([
    { from: 'unknown', to: 'unknown', calls: 3, agents: { unknown: 3 } },
  ]);
});
