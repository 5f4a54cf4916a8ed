/**
 * The decision of a hook over HTTP beside a bare server that answers the same request, in the same
 * run: one client, and fifty concurrent sessions. Each decision is durable in a SQLite store before
 * its answer.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { openStore } from '#stores';
import { start } from '../tests/support/server/serving.ts';
import { type BenchResult, median } from './measure.ts';

const ROUNDS = 5;
const CALLS = 200;
const SESSIONS = 50;
const P50_MS_MAX = 10;

const { rules } = readRules('{ id: bench, default: allow, rules: [{ id: all, allow: "*" }] }');

/** A set that judges beside these rules, of the size of a first file. */
const TRIAL = {
  rules: readRules(`
id: trial
rules:
  - { id: look, allow: ['files/*', 'shell/*'], class: read, path: /repo }
  - { id: git, allow: shell/git, path: /repo, where: [{ path: /argv/0, in: [status, diff, log] }] }
  - { id: test, allow: shell/npm, path: /repo, where: [{ path: /argv/0, is: test }] }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: [/repo/.env, /repo/secrets] }
  - { id: remove, ask: [shell/rm, shell/mv] }
limits: [{ id: many, tools: 'shell/*', per: day, max: 100000 }]
read_before_write: [{ id: first, tools: ['files/write', 'files/edit'] }]
`).rules,
  until: '2099-01-01',
};
const TRIAL_MAX = 1.3;

/** Asks once, and resolves with the milliseconds until the whole answer. */
type Ask = (session: number, n: number) => Promise<number>;

export async function hooksBench(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const plain = await judging(join(folder, 'plain.db'));
  const tried = await judging(join(folder, 'tried.db'), TRIAL);
  const bare = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  }).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const bareAsk = asking(`http://127.0.0.1:${(bare.address() as AddressInfo).port}/`, '');
  const asks = { own: plain.ask, bare: bareAsk };
  try {
    return [
      ...(await measure('a decision of a hook, p50', asks, 1, CALLS, { max: P50_MS_MAX })),
      ...(await measure(
        `a decision of a hook, ${SESSIONS} concurrent sessions, p50`,
        asks,
        SESSIONS,
        10,
      )),
      ...(await measure(
        'a decision of a hook with a trial set, p50',
        { own: tried.ask, bare: (await judging(join(folder, 'beside.db'))).ask },
        1,
        CALLS,
        { ratioMax: TRIAL_MAX },
        'without it',
      )),
    ];
  } finally {
    bare.closeAllConnections();
    bare.close();
    for (const stop of stops.splice(0)) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const stops: (() => Promise<void>)[] = [];

/** Asks a server that judges calls, with or without a trial set. */
async function judging(file: string, trial?: typeof TRIAL): Promise<{ readonly ask: Ask }> {
  const store = await openStore(`sqlite:${file}`);
  const server = await start({
    ...{
      store,
      rules,
      trial,
      domains: [gateway({ rules }) as unknown as Domain],
      stopsAlone: true,
    },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:claude': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'report', 'session'] }],
      },
    },
  });
  stops.push(async () => {
    await server.stop();
    await store.close();
  });
  const url = `http://127.0.0.1:${server.port}/v1/trajectories/calls/hooks/claude-code?wait=0`;
  return { ask: asking(url, await server.tokenFor('agent:claude')) };
}

let asked = 0;

async function measure(
  name: string,
  asks: Record<'own' | 'bare', Ask>,
  sessions: number,
  calls: number,
  goal?: BenchResult['goal'],
  beside: string = 'a bare server',
): Promise<BenchResult[]> {
  const medians: { own: number[]; bare: number[] } = { own: [], bare: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const which of round % 2 === 0 ? (['bare', 'own'] as const) : (['own', 'bare'] as const)) {
      const times = await Promise.all(
        Array.from({ length: sessions }, async (_, session) => {
          const own: number[] = [];
          for (let n = 0; n < calls; n++) own.push(await asks[which](session, ++asked));
          return own;
        }),
      );
      // The first round warms up.
      if (round > 0) medians[which].push(median(times.flat()));
    }
  const [value, other] = [median(medians.own), median(medians.bare)];
  const baseline = { name: beside, value: other };
  return [{ name, value, unit: 'ms', baseline, ratio: value / other, ...(goal && { goal }) }];
}

function asking(url: string, token: string): Ask {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (event: object): Promise<string> => {
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) });
    const text = await answer.text();
    if (answer.status !== 200 || text.includes('"deny"'))
      throw new Error(`The server answered ${answer.status}: ${text}`);
    return text;
  };
  return async (session, n) => {
    const call = {
      ...{ session_id: `s${session}`, cwd: '/repo', tool_use_id: `toolu_${n}` },
      ...{ tool_name: 'Bash', tool_input: { command: `git status && npm test -- --run ${n}` } },
    };
    const began = performance.now();
    await send({ hook_event_name: 'PreToolUse', ...call });
    const ms = performance.now() - began;
    await send({ hook_event_name: 'PostToolUse', ...call, tool_response: { stdout: 'ok' } });
    return ms;
  };
}
