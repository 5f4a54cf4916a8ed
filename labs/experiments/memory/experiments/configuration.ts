import { isAssizeError } from 'assize';
import { contentHash } from 'assize/internal/canon';
import {
  checkOpen,
  declarePredicate,
  type FactRow,
  type Question,
  readWitness,
} from 'assize/internal/memory';
import { type Random, seededRandom } from 'assize/internal/oracle';
import type { AssertInput, Judge, Memory, Recalled } from 'assize/internal/runtime';
import type { Embedder, RecallQuery, SearchMode } from 'assize/memory';
import type { Table } from '../../tables/index.ts';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';
import { committed, endingAfterVote, hasEnded, openOwnMemory } from './own-memory.ts';
import { wordEmbedder } from './word-embedder.ts';

/** As many seeds as the paper has (D.5). */
const SEEDS = 5;
const SUBJECTS = 16;
const COMMITS = 30;
const OBJECTS = 4;
/** Number of assertions between two recalls. */
const RECALLED_EVERY = 10;

/** The settings of a deployment. */
interface Configuration {
  readonly name: string;
  /** Whether the setting affects writes, or only the facts that readers receive. */
  readonly path: 'read' | 'write';
  /** By key alone, or by text: full-text, vector or hybrid search. */
  readonly by: 'key' | SearchMode;
  readonly embedder: Embedder;
  /** The order that the caller gives to the recalled facts. */
  readonly rerankedBy: 'nothing' | 'confidence' | 'time';
  readonly top: number;
  /** The instruction to the judge. It is a part of the key of the judge's stored answers. */
  readonly instruction: string;
  /**
   * The paper's number of seeds, of five, for which mem0 v3 has another verdict than its baseline.
   */
  readonly paper?: number;
}

export const BASELINE: Configuration = {
  name: 'baseline: by embedding',
  path: 'read',
  by: 'embedding',
  embedder: wordEmbedder({ salt: 'words' }),
  rerankedBy: 'nothing',
  top: 10,
  instruction: 'choose the one that is so',
};

/** One that the paper has too, with the verdicts of its own baseline. */
const REPORTED: Configuration = { ...BASELINE, paper: 0 };

/**
 * The paper's configurations (D.5) that can be set here, its value of top k, and the other ways to
 * recall.
 */
const CONFIGURATIONS: readonly Configuration[] = [
  BASELINE,
  {
    ...REPORTED,
    name: 'vectors of length 1',
    embedder: wordEmbedder({ salt: 'words', isNormalised: true }),
  },
  { ...BASELINE, name: 'another embedder', embedder: wordEmbedder({ salt: 'other words' }) },
  { ...REPORTED, name: 'reranked by confidence', rerankedBy: 'confidence' },
  { ...REPORTED, name: 'reranked by time', rerankedBy: 'time' },
  { ...BASELINE, name: 'the top 30', top: 30 },
  { ...BASELINE, name: 'by key', by: 'key' },
  { ...BASELINE, name: 'by text', by: 'text' },
  { ...BASELINE, name: 'by text and embedding', by: 'hybrid' },
  {
    ...REPORTED,
    name: 'another instruction of the judge',
    path: 'write',
    instruction: 'choose the safer one',
    paper: 4,
  },
];

export const configuration: Experiment = {
  name: 'configuration',
  about:
    'whether settings of reading or of writing change what anomalies there are (proposition 2 of D.5)',
  run: async (running) => [await configurationTable(running)],
};

/** The result of a deployment. */
interface Deployed {
  readonly verdict: { readonly n1: boolean; readonly n2: boolean; readonly n3: boolean };
  /** Hashes of the current facts and of their ranking. */
  readonly beliefs: string;
  readonly recalled: string;
}

async function configurationTable(running: Running): Promise<Table> {
  const seeds = running.runs ?? SEEDS;
  const deployed = await census(running, CONFIGURATIONS, seeds, async (configuration, run) =>
    deploy(configuration, `${running.seed} ${run}`),
  );
  const [baseline] = deployed;
  return {
    source: 'Appendix D.5, Lemma 7',
    title: 'seeds that show an anomaly, or another thing than the baseline, by configuration',
    keys: ['configuration', 'path'],
    columns: ['N1', 'N2', 'N3', 'another verdict', 'other beliefs', 'recalled otherwise'],
    rows: CONFIGURATIONS.map(({ name, path, paper: reported }, c) => {
      const count = (isSo: (one: Deployed, i: number) => boolean): number =>
        deployed[c]!.filter(isSo).length;
      const verdicts = deployed[c]!.map(({ verdict }) => JSON.stringify(verdict));
      const others = verdicts.filter(
        (verdict, i) => verdict !== JSON.stringify(baseline![i]!.verdict),
      ).length;
      // Of as many seeds as the paper has.
      const paper = seeds === SEEDS ? reported : undefined;
      return {
        keys: [name, path],
        cells: [
          { measured: count(({ verdict }) => verdict.n1), expected: 0 },
          { measured: count(({ verdict }) => verdict.n2), expected: 0 },
          { measured: count(({ verdict }) => verdict.n3), expected: 0 },
          { measured: others, expected: 0, ...(paper !== undefined && { paper }) },
          {
            measured: count(({ beliefs }, i) => beliefs !== baseline![i]!.beliefs),
            ...(path === 'read' && { expected: 0 }),
          },
          { measured: count(({ recalled }, i) => recalled !== baseline![i]!.recalled) },
        ],
      };
    }),
    notes: [
      `${seeds} seeds a row. Runtimes say ${COMMITS} times something of ${SUBJECTS} subjects, and recall as configured before each ${RECALLED_EVERY}, which their proposals observe; who wins a contradiction a judge says, which is a stub. Each process ends when a vote is in the log, and another one, whose judge would vote otherwise, says the same. N1: that judge is asked, or another fact is believed than was voted for. N2: two open rows overlap. N3: what was contradicted has no audit row that names it.`,
      'What is set for reading changes what is recalled and in which order, and nothing of what is believed. Another instruction is another question to the judge, so that other facts are believed; no anomaly comes of it. The paper’s figures are of mem0 v3, and reported: for another distance it has 0, which can’t be set here, where vectors are compared by cosine alone. Reranked is by who asks; the embedder is a stub, which counts words.',
    ],
    plot: { sort: 'bar', x: 'configuration', y: 'seeds', keys: [] },
  };
}

/**
 * Asserts random claims. If a judge is asked, the first process ends at the vote. Another process
 * then asserts the claim again.
 */
export async function deploy(of: Configuration, seed: string): Promise<Deployed> {
  const own = await openOwnMemory({ medication: 'rule' }, seed);
  const votes: Votes = new Map();
  let asked = 0;
  const theta = { prompt: of.instruction };
  const dying: Judge = {
    oracle: endingAfterVote(own.oracle),
    theta,
    choose: (question) => voteOf(question, of.instruction, votes),
  };
  const other: Judge = {
    oracle: own.oracle,
    theta,
    choose: ({ members }) => {
      asked += 1;
      return members.find(({ claim }) => !votes.has(claim))?.claim ?? members[0]!.claim;
    },
  };
  const first = await own.begin('first', { judge: dying, embedder: of.embedder });
  const second = await own.begin('second', { judge: other, embedder: of.embedder });
  const said = assertions(seededRandom(`said ${seed}`));
  let isOtherwise = false;
  let observations: Recalled['observation'][] = [];
  for (const [n, claim] of said.entries()) {
    if (n % RECALLED_EVERY === 0) observations = [(await recall(of, first, claim)).observation];
    votes.clear();
    if (!(await hasEnded(first.assert(claim, { observations })))) continue;
    await committed(second.assert(claim, { observations }));
    const { facts } = await second.recall({ subject: claim.subject, valid: AT });
    const [voted] = votes.values();
    isOtherwise ||= facts.length !== 1 || facts[0]!.object !== voted;
  }
  const believed = (await second.recall({ valid: 'any' })).facts;
  const audit = (await second.recall({ valid: 'any', kind: 'audit' })).facts;
  const found = [];
  for (const claim of said.slice(0, ASKED)) found.push(ranked(of, await recall(of, second, claim)));
  await own.close();
  return {
    verdict: {
      n1: asked > 0 || isOtherwise,
      n2: overlaps(believed),
      n3: said.some((claim) => isLost(claim, believed, audit)),
    },
    beliefs: contentHash(believed.map(({ subject, object }) => [subject, object])),
    recalled: contentHash(found),
  };
}

/** Questions whose answers are compared. */
const ASKED = 3;

const AT = '2026-04-15T00:00:00.000000Z';
const DECLARATION = declarePredicate({ cardinality: 'single-valued', strategy: 'rule' });

function assertions(chance: Random): readonly AssertInput[] {
  return Array.from({ length: COMMITS }, (_, i) => {
    const [subject = 0, object = 0, confidence = 0] = chance.bytes(3);
    return {
      subject: `patient ${subject % SUBJECTS}`,
      predicate: 'medication',
      object: `substance ${object % OBJECTS}`,
      valid: { from: AT },
      confidence: confidence / 255,
      source: `letter ${i}`,
    };
  });
}

/** The winning claim of the last vote, with its object. */
type Votes = Map<string, string>;

/** A stub judge. Under one instruction, the same objects always have the same vote. */
function voteOf({ members }: Question, instruction: string, votes: Votes): string {
  const ordered = members.toSorted((a, b) => (a.object < b.object ? -1 : 1));
  const chance = Number.parseInt(
    contentHash([instruction, ...ordered.map(({ object }) => object)]).slice(0, 8),
    16,
  );
  const { claim, object } = ordered[chance % ordered.length]!;
  votes.set(claim, object);
  return claim;
}

/** The reader's recall, as configured. */
function recall(
  { by, top }: Configuration,
  memory: Memory,
  { subject, object }: AssertInput,
): Promise<Recalled> {
  const query: RecallQuery = by === 'key' ? { subject } : { text: `${subject} ${object}`, by };
  return memory.recall({ ...query, valid: AT, limit: top });
}

function ranked(
  { rerankedBy }: Configuration,
  { facts }: Recalled,
): readonly (readonly string[])[] {
  const orders = {
    nothing: () => 0,
    confidence: (a: FactRow, b: FactRow) => b.confidence - a.confidence,
    time: (a: FactRow, b: FactRow) => b.asserted_seq - a.asserted_seq,
  };
  return facts.toSorted(orders[rerankedBy]).map(({ subject, object }) => [subject, object]);
}

function overlaps(rows: readonly FactRow[]): boolean {
  try {
    for (const own of Map.groupBy(rows, ({ subject }) => subject).values())
      checkOpen(own, DECLARATION);
    return false;
  } catch (error) {
    if (isAssizeError(error) && error.reason === 'overlaps_open') return true;
    throw error;
  }
}

/** Whether something that was said is neither believed nor named by the witness of an audit row. */
function isLost(
  { subject, object }: AssertInput,
  believed: readonly FactRow[],
  audit: readonly FactRow[],
): boolean {
  const isIt = (row: FactRow): boolean => row.subject === subject;
  if (believed.some((row) => isIt(row) && row.object === object)) return false;
  return !audit.some(
    (row) => isIt(row) && readWitness(row).members.some((member) => member.object === object),
  );
}
