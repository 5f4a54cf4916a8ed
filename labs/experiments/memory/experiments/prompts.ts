import { openStore, type Store } from 'assize';
import {
  createOracle,
  fixedClock,
  type Oracle,
  type Random,
  seededRandom,
} from 'assize/internal/oracle';
import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';

/** Items of a band, as many as the paper has (Table 8). */
const ITEMS = 75;
/** How often each deployment asks again what it has asked. */
const REPLAYS = 5;

/**
 * The paper's four bands, by the share of the answer that an item has. Its figures are for
 * claude-haiku-4-5.
 */
const BANDS = [
  { name: 'CONTROL', from: 0.9, to: 1, paper: 0 },
  { name: 'PARAPHRASE', from: 0.6, to: 1, paper: 0.07 },
  { name: 'DISTRACTOR', from: 0, to: 0.4, paper: 0.01 },
  { name: 'PARTIAL', from: 0.3, to: 0.7, paper: 0.61 },
] as const;
type Band = (typeof BANDS)[number];

/** The family of prompts that a deployer might ship, by temperature: two by two. */
const FAMILY = [
  { prompt: 'strict', temperature: 0 },
  { prompt: 'strict', temperature: 0.7 },
  { prompt: 'lenient', temperature: 0 },
  { prompt: 'lenient', temperature: 0.7 },
] as const;
type Decoder = (typeof FAMILY)[number];

/**
 * The share of the answer from which the stub says yes, and the maximum shift of that share by
 * temperature.
 */
const THRESHOLD = { strict: 0.65, lenient: 0.35 };
const WOBBLE = 0.1;

export const prompts: Experiment = {
  name: 'prompts',
  about:
    'how much a judge depends on its prompt, and a log does not, on answers of a stub (table 8, lemma 5)',
  run: async (running) => {
    const store = await openStore('memory:');
    try {
      return [await promptsTable(running, store)];
    } finally {
      await store.close();
    }
  },
};

/** The recorded answers of the deployments, one for each decoder, for an item. */
interface Recorded {
  readonly votes: readonly number[];
  /** Of all that was asked again, how often another answer came. */
  readonly changed: number;
}

async function promptsTable(running: Running, store: Store): Promise<Table> {
  const items = running.runs ?? ITEMS;
  const chance = seededRandom(running.seed);
  const clock = fixedClock('2026-01-01T00:00:00.000000Z');
  const oracles = {
    record: createOracle({ store, clock, mode: 'record' }),
    replay: createOracle({ store, clock, mode: 'replay' }),
  };
  const rows: Table['rows'][number][] = [];
  for (const [b, band] of BANDS.entries()) {
    const recorded: Recorded[] = [];
    for (let item = 0; item < items; item++) {
      await yieldToEventLoop(running);
      recorded.push(await recordedOf(oracles, band, item, chance));
      running.progress(b * items + item + 1, BANDS.length * items);
    }
    rows.push({ keys: [band.name], cells: cellsOf(recorded, band) });
  }
  return {
    source: 'Table 8, Lemma 5',
    title: 'items whose verdict depends on which prompt a deployment has, by band',
    keys: ['band'],
    columns: [
      'unstable',
      'by prompt',
      'by temperature',
      'by both',
      'replays that differ',
      'more than two verdicts',
    ],
    rows,
    notes: [
      `The answers are a stub’s, by the seed; no language model is asked, and the paper’s figures, which are of one, are reported. ${items} items a band. The stub says yes to an item that has enough of the answer: more for the strict prompt, less for the lenient one, and at temperature 0.7 by up to ${WOBBLE} more or less each time that it is asked.`,
      'Of other models the paper reports 0.507, 0.627 and 0.853 in PARTIAL.',
      `Each deployment has a memory space and a decoder (θ) of its own, and asks ${2 * REPLAYS} times more through the log, half of them in replay: whatever the stub would say then, it is answered as before (Lemma 5 (1)). Of an item there are two verdicts at most, however many prompts (Proposition 6).`,
    ],
    plot: { sort: 'bar', x: 'band', y: 'part of the items', columns: ['unstable'] },
  };
}

function cellsOf(recorded: readonly Recorded[], { paper }: Band): Table['rows'][number]['cells'] {
  const count = (isSo: (votes: readonly number[]) => boolean): number =>
    recorded.filter(({ votes }) => isSo(votes)).length;
  const isByPrompt = ([s, warmS, l, warmL]: readonly number[]): boolean =>
    s !== l && s === warmS && l === warmL;
  const isByTemperature = ([s, warmS, l, warmL]: readonly number[]): boolean =>
    s === l && warmS === warmL && s !== warmS;
  const isUnstable = (votes: readonly number[]): boolean => new Set(votes).size > 1;
  // The paper’s counts are of as many items, in one band.
  const isPartial = paper === 0.61 && recorded.length === ITEMS;
  return [
    { measured: count(isUnstable) / recorded.length, paper },
    { measured: count(isByPrompt), ...(isPartial && { paper: 42 }) },
    { measured: count(isByTemperature), ...(isPartial && { paper: 0 }) },
    {
      measured: count(
        (votes) => isUnstable(votes) && !isByPrompt(votes) && !isByTemperature(votes),
      ),
      ...(isPartial && { paper: 4 }),
    },
    { measured: recorded.reduce((sum, { changed }) => sum + changed, 0), expected: 0 },
    { measured: count((votes) => new Set(votes).size > 2), expected: 0 },
  ];
}

async function recordedOf(
  { record, replay }: Readonly<Record<'record' | 'replay', Oracle>>,
  { name, from, to }: Band,
  item: number,
  chance: Random,
): Promise<Recorded> {
  const has = from + (to - from) * drawn(chance);
  const votes: number[] = [];
  let changed = 0;
  for (const decoder of FAMILY) {
    const asking = {
      scope: { kind: 'memory', space: `${decoder.prompt} ${decoder.temperature}` },
      request: { band: name, item },
      theta: { prompt: decoder.prompt, temperature: decoder.temperature, model_version: 'stub' },
      call: () => verdict(decoder, has, chance),
    } as const;
    const first = Number(await record.ask(asking));
    for (let again = 0; again < REPLAYS; again++)
      for (const oracle of [record, replay]) if ((await oracle.ask(asking)) !== first) changed += 1;
    votes.push(first);
  }
  return { votes, changed };
}

/** The stub's answer to this call. */
function verdict({ prompt, temperature }: Decoder, has: number, chance: Random): number {
  const wobble = temperature === 0 ? 0 : WOBBLE * (2 * drawn(chance) - 1);
  return Number(has + wobble >= THRESHOLD[prompt]);
}

function drawn(chance: Random): number {
  const [a, b, c] = chance.bytes(3) as unknown as [number, number, number];
  return (a * 65_536 + b * 256 + c) / 2 ** 24;
}
