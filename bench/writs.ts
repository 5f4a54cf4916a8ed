/**
 * The check of a writ two links below its root, as each proposal has it: known to the verifier, and
 * read for the first time.
 */
import { attenuate, generateKeys, issueWrit, type Writ } from 'assize';
import { createWritVerifier, type WritUse, type WritVerifier } from '#authority';
import { type BenchResult, formatTable, keep, median, percentile } from './measure.ts';

const ROUNDS = 9;
const PER_ROUND = 4_096;
const FIRST_PER_ROUND = 64;
/** Members that the writ is used for, in turns. */
const MEMBERS = 64;

export async function writsBench(): Promise<BenchResult[]> {
  const { anchors, use } = family();
  const known = createWritVerifier({ anchors });
  const cached: number[] = [];
  const first: number[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const [of, fresh]: number[][] = round < 0 ? [[], []] : [cached, first];
    for (let n = 0; n < PER_ROUND; n++) of!.push(timed(known, use(n)));
    for (let n = 0; n < FIRST_PER_ROUND; n++)
      fresh!.push(timed(createWritVerifier({ anchors }), use(n)));
  }
  return [
    {
      name: 'check of a writ two links below its root, cached, p50',
      value: percentile(cached, 50),
      unit: 'µs',
      baseline: { name: 'read for the first time', value: median(first) },
      ratio: percentile(cached, 50) / median(first),
      goal: { max: 5 },
    },
    {
      name: 'check of a writ two links below its root, cached, p99',
      value: percentile(cached, 99),
      unit: 'µs',
    },
  ];
}

function timed(verifier: WritVerifier, use: WritUse): number {
  const start = performance.now();
  const answer = verifier.check(use);
  const taken = (performance.now() - start) * 1_000;
  if (!answer.ok) throw new Error(`unexpected: ${answer.detail}`);
  keep(answer.writ_id);
  return taken;
}

function family(): { readonly anchors: string[]; readonly use: (n: number) => WritUse } {
  const [root, lead, worker] = [generateKeys(), generateKeys(), generateKeys()];
  const granted = issueWrit(
    {
      issuer: root.publicKey,
      subject: lead.publicKey,
      trajectory: 't',
      actions: ['visit', 'close'],
      scopes: ['role:clerk:*', 'role:lead:*'],
      not_before: '2020-01-01T00:00:00.000000Z',
      expires: '2100-01-01T00:00:00.000000Z',
      max_depth: 2,
      nonce: 'root',
    },
    root.privateKey,
  );
  const passedOn = attenuate(
    granted,
    { subject: worker.publicKey, nonce: 'lead' },
    lead.privateKey,
  );
  const writ = attenuate(
    passedOn,
    { subject: 'agent:bench', nonce: 'worker', actions: ['visit'] },
    worker.privateKey,
  );
  const chain: readonly Writ[] = [passedOn, granted];
  const revoked: ReadonlySet<string> = new Set();
  return {
    anchors: [root.publicKey],
    use: (n) => ({
      writ,
      chain,
      principal: 'agent:bench',
      trajectory: 't',
      at: '2026-01-01T00:00:00.000000Z',
      action: 'visit',
      scopes: [`role:clerk:m${n % MEMBERS}`],
      revoked,
    }),
  };
}

if (import.meta.main) console.log(formatTable(await writsBench()));
