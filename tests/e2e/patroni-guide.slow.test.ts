import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type DatabaseNode, hasPatroni, PatroniCluster } from '../support/postgres/patroni.ts';
import { blockOf } from '../support/process/guide-files.ts';
import { type ListeningServer, startServer } from '../support/process/listening-server.ts';
import { ServedGuide } from '../support/process/served-guide.ts';

const PAGE = 'postgres.md';
/** A failover takes as long as `ttl` of the guide, and more on a busy machine. */
const PATIENT = { timeout: 240_000, interval: 500 };
const CALLERS_PER_SERVER = 3;
/** A caller gives up on an answer after this time, and repeats the request. */
const ANSWER_MS = 4_000;

/** An agent that proposes one thing after the other at one server. */
class Caller {
  /** The id of the entry of each answered proposal, by its key. */
  readonly entries = new Map<string, string>();
  /** Requests without a ruling as their answer. */
  unanswered = 0;
  readonly #name: string;
  readonly #url: string;
  readonly #token: string;
  #isOver = false;

  constructor(name: string, url: string, token: string) {
    this.#name = name;
    this.#url = url;
    this.#token = token;
  }

  /** Repeats each proposal with its key until it has a ruling. */
  async run(): Promise<void> {
    for (let count = 1; !this.#isOver; ) {
      const key = `${this.#name}-${count}`;
      const id = await this.#propose(key);
      if (id === undefined) this.unanswered += 1;
      else {
        this.entries.set(key, id);
        count += 1;
      }
      await sleep(100);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  async #propose(key: string): Promise<string | undefined> {
    let answer: Response;
    try {
      answer = await fetch(`${this.#url}/v1/trajectories/acme:trip/proposals`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.#token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({
          action: 'spend',
          role: { name: 'spender', params: { agent: 'scout' } },
          args: { amount: 1 },
        }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') return undefined;
      throw error;
    }
    const body = (await answer.json()) as { readonly ruling?: string; readonly entry_id: string };
    if (answer.status === 503) return undefined;
    expect(body).toMatchObject({ ruling: 'committed' });
    return body.entry_id;
  }
}

const title = hasPatroni
  ? PAGE
  : `${PAGE} (absent without Patroni, etcd, HAProxy and PostgreSQL 15 of Debian)`;

describe.skipIf(!hasPatroni)(title, () => {
  test('the loss of the primary loses and doubles no proposal', { timeout: 600_000 }, async () => {
    const cluster = await PatroniCluster.start();
    const guide = await ServedGuide.begin();
    const servers: ListeningServer[] = [];
    const callers: Caller[] = [];
    const environmentOf = (block: string): Record<string, string> => ({
      ...Object.fromEntries(
        [...cluster.placed(block).matchAll(/^export (\w+)='?([^'\n]*)'?$/gm)].map(
          ([, ...pair]) => pair,
        ),
      ),
      PGPORT: cluster.port,
      ASSIZE_ROOT_KEY_FILE: 'root.key',
    });
    const direct = environmentOf(blockOf(PAGE, 'sh direct'));
    const sh = async (code: string): Promise<string> => {
      const options = { cwd: guide.folder, env: { ...guide.environment, ...direct } };
      return (await promisify(execFile)('sh', ['-eu', '-c', cluster.placed(code)], options)).stdout;
    };
    const untilRoles = (
      roles: Partial<Record<DatabaseNode, string>>,
      asked: DatabaseNode = 'db2',
    ) => expect.poll(() => cluster.roles(asked), PATIENT).toMatchObject(roles);
    /** Each caller gets some more answers. */
    const untilMoreAnswers = async (): Promise<void> => {
      const before = callers.map(({ entries }) => entries.size);
      const fewest = () =>
        Math.min(...callers.map(({ entries }, at) => entries.size - before[at]!));
      await expect.poll(fewest, PATIENT).toBeGreaterThan(5);
    };
    try {
      await expect.poll(() => cluster.sh(blockOf(PAGE, 'sh etcd-health')), PATIENT).toBeDefined();
      cluster.startPatroni('db1');
      await untilRoles({ db1: 'leader' }, 'db1');
      cluster.startPatroni('db2');
      await untilRoles({ db1: 'leader', db2: 'sync_standby' });
      expect(await cluster.sh(blockOf(PAGE, 'sh list'))).toMatch(
        /db1 .* Leader .*\n.*db2 .* Sync Standby /,
      );
      cluster.startHaproxy();
      for (const statement of blockOf(PAGE, 'sql patroni').trim().split('\n'))
        await cluster.query('db1', statement, 'postgres');

      writeFileSync(
        join(guide.folder, 'assize.config.ts'),
        blockOf('scale.md', 'ts assize.config.ts'),
      );
      await sh('assize writ key root.key');
      for (const says of ['sh direct', 'sh balanced'])
        servers.push(
          await startServer(guide.folder, ['--port', '0'], {
            env: environmentOf(blockOf(PAGE, says)),
          }),
        );
      const token = (await sh('assize token create agent:scout')).trim();
      for (const [at, { url }] of servers.entries())
        for (let each = 1; each <= CALLERS_PER_SERVER; each += 1)
          callers.push(new Caller(`caller-${at}-${each}`, url, token));
      const calling = Promise.all(callers.map((caller) => caller.run()));
      // Its rejection is seen where it is awaited.
      calling.catch(() => undefined);
      await untilMoreAnswers();

      await cluster.kill('db1');
      await untilRoles({ db2: 'leader' });
      await untilMoreAnswers();
      expect(callers.filter(({ unanswered }) => unanswered > 0)).not.toEqual([]);

      cluster.startEtcd('db1');
      cluster.startPatroni('db1');
      await untilRoles({ db1: 'sync_standby', db2: 'leader' });
      await untilMoreAnswers();
      await cluster.sh(blockOf(PAGE, 'sh switchover'));
      await untilRoles({ db1: 'leader', db2: 'sync_standby' });
      expect(await cluster.sh(blockOf(PAGE, 'sh strict'))).toContain('Configuration changed');
      await untilMoreAnswers();
      for (const caller of callers) caller.end();
      await calling;

      const answered = callers.flatMap(({ entries }) => [...entries.values()]);
      const { log } = JSON.parse(await sh('assize log acme:trip --json')) as {
        readonly log: readonly { readonly id: string }[];
      };
      const proposed = log.slice(1).map(({ id }) => id);
      expect(proposed.sort()).toEqual(answered.sort());
      const verified = await sh('assize verify');
      expect(verified).toMatch(/trip .*valid/);
      await expect.poll(() => sh(blockOf(PAGE, 'sh read')), PATIENT).toBe(verified);
      expect(servers.map(({ process }) => process.exitCode)).toEqual([null, null]);
    } catch (error) {
      throw new Error(`The cluster printed:\n${cluster.log()}`, { cause: error });
    } finally {
      for (const caller of callers) caller.end();
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
      await guide.end();
      await cluster.remove();
    }
  });
});
