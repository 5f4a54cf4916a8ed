/**
 * Canonical text, hashes and parsing, compared with the platform's native functions. Run it alone:
 * `node bench/canon.ts`.
 */
import { hash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import {
  canonicalize,
  contentHash,
  copyJson,
  generateKeys,
  hashText,
  parseCanonical,
  parseStrict,
  signText,
  verifyText,
} from '#canon';
import { type BenchResult, compare, formatTable, keep, rateResult } from './measure.ts';

/** Different values of the same shapes, so that no result depends on a single value. */
const VARIANTS = 1_024;

export async function canonBench(): Promise<BenchResult[]> {
  return [
    ...(await hashing('canonicalize + hash, 600-byte payload', payloads(), {
      min: 280_000,
      ratioMin: 0.45,
    })),
    ...(await hashing('canonicalize + hash, random shapes', randomShapes(), { ratioMin: 0.4 })),
    ...(await parsing()),
    ...(await copying()),
    ...(await signing()),
  ];
}

async function hashing(
  name: string,
  values: readonly unknown[],
  goal: BenchResult['goal'],
): Promise<BenchResult[]> {
  const [own, baseline] = await compare([
    { name, run: over(values, (value) => contentHash(value)) },
    {
      name: 'JSON.stringify + hash',
      run: over(values, (value) => hash('sha256', JSON.stringify(value), 'hex')),
    },
  ]);
  return [rateResult(own!, baseline, goal)];
}

async function parsing(): Promise<BenchResult[]> {
  const compact = payloads().map((payload) => JSON.stringify(trimmed(payload)));
  const pretty = payloads().map((payload) => JSON.stringify(trimmed(payload), undefined, 1));
  const stored = payloads().map((payload) => canonicalize(payload));
  const [strict, native, strictPretty, nativePretty, canonical, nativeStored, checked] =
    await compare([
      { name: 'parseStrict, 456-byte document', run: over(compact, (text) => parseStrict(text)) },
      { name: 'JSON.parse', run: over(compact, (text) => JSON.parse(text)) },
      { name: 'parseStrict, the same indented', run: over(pretty, (text) => parseStrict(text)) },
      { name: 'JSON.parse', run: over(pretty, (text) => JSON.parse(text)) },
      {
        name: 'parseCanonical, 600-byte payload',
        run: over(stored, (text) => parseCanonical(text)),
      },
      { name: 'JSON.parse', run: over(stored, (text) => JSON.parse(text)) },
      {
        name: 'parseCanonical + hashText',
        run: over(stored, (text) => [parseCanonical(text), hashText(text)]),
      },
    ]);
  return [
    rateResult(strict!, native, { min: 200_000 }),
    rateResult(strictPretty!, nativePretty),
    rateResult(canonical!, nativeStored),
    rateResult(checked!, nativeStored),
  ];
}

async function copying(): Promise<BenchResult[]> {
  const values = payloads();
  const small = values.map((_, i) => ({ amount: i, unit: 'usd' }));
  const [copy, clone, copySmall, cloneSmall] = await compare([
    { name: 'copyJson, 600-byte payload', run: over(values, (value) => copyJson(value)) },
    {
      name: 'JSON.parse(JSON.stringify)',
      run: over(values, (value) => JSON.parse(JSON.stringify(value))),
    },
    { name: 'copyJson, two members', run: over(small, (value) => copyJson(value)) },
    {
      name: 'JSON.parse(JSON.stringify)',
      run: over(small, (value) => JSON.parse(JSON.stringify(value))),
    },
  ]);
  return [rateResult(copy!, clone), rateResult(copySmall!, cloneSmall)];
}

async function signing(): Promise<BenchResult[]> {
  const { publicKey, privateKey } = generateKeys(new Uint8Array(32).fill(7));
  const texts = payloads()
    .slice(0, 64)
    .map((payload) => canonicalize(payload));
  const signed = texts.map((text) => ({ text, signature: signText('entry', text, privateKey) }));
  const [sign, verify] = await compare([
    { name: 'signText', run: over(texts, (text) => signText('entry', text, privateKey)) },
    {
      name: 'verifyText',
      run: over(signed, (it) => verifyText('entry', it.text, it.signature, publicKey)),
    },
  ]);
  return [rateResult(sign!, undefined), rateResult(verify!, undefined)];
}

/** Runs the operation on one value after the other. */
function over<T>(values: readonly T[], operation: (value: T) => unknown): (count: number) => void {
  let next = 0;
  return (count) => {
    for (let i = 0; i < count; i++) {
      next = (next + 1) % values.length;
      keep(operation(values[next]!));
    }
  };
}

/** Commit entries as a ledger has them, about 600 bytes of canonical text. */
export function payloads(): Record<string, unknown>[] {
  return Array.from({ length: VARIANTS }, (_, i) => ({
    kind: 'commit',
    trajectory_id: 'trajectory-' + (i % 7),
    seq: i,
    parent: hashText('parent' + i),
    at: `2026-03-23T09:00:00.${String(i).padStart(6, '0')}Z`,
    proposal_id: hashText('proposal' + i),
    writ_id: hashText('writ' + (i % 3)),
    action: {
      name: 'spend',
      role: { name: 'spender', params: { agent: 'agent-' + (i % 11) } },
      args: { amount: i },
    },
    delta: {
      state: [{ op: 'replace', path: '/spent/agent-' + (i % 11), value: i * 3 }],
      effects: [],
      beliefs: [],
    },
    observations: [],
    budget_cost: { calls: 1 },
    compiler_version: '1',
  }));
}

/** The payload without its longest members: about 456 bytes. */
function trimmed(payload: Record<string, unknown>): Record<string, unknown> {
  const {
    writ_id: _writ,
    budget_cost: _cost,
    observations: _seen,
    compiler_version: _version,
    ...rest
  } = payload;
  return rest;
}

/** Objects and arrays that rarely have the same names twice, so no cache of shapes helps. */
function randomShapes(): unknown[] {
  let state = 88_172_645;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const name = (): string => 'k' + draw(400).toString(36) + ['', '_id', '_name', 'Count'][draw(4)]!;
  const value = (depth: number): unknown => {
    const kind = draw(depth === 0 ? 4 : 7);
    if (kind === 0) return draw(1_000_000);
    if (kind === 1) return 'a text of ' + draw(10_000) + ' words'.repeat(draw(4));
    if (kind === 2) return draw(2) === 0;
    if (kind === 3) return draw(100) / 8;
    if (kind === 4) return Array.from({ length: draw(6) }, () => value(depth - 1));
    return Object.fromEntries(
      Array.from({ length: 1 + draw(8) }, () => [name(), value(depth - 1)]),
    );
  };
  const root = (): unknown =>
    Object.fromEntries(Array.from({ length: 6 }, () => [name(), value(3)]));
  return Array.from({ length: VARIANTS }, root);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(formatTable(await canonBench()));
}
