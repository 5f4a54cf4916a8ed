import { isAssizeError } from 'assize';
import { contentHash } from 'assize/canon';
import {
  type Answer,
  type Assertion,
  answerOf,
  applyPlan,
  checkOpen,
  declarePredicate,
  type FactRow,
  OPEN_END,
  planAssert,
  type Question,
  readWitness,
  type Writing,
} from 'assize/memory';
import { type Random, seededRandom } from 'assize/oracle';
import type { Table } from 'assize/tables';
import { census } from '../census.ts';
import type { Experiment, Running } from '../experiment.ts';

/** As many seeds as the paper has (D.5). */
const SEEDS = 5;
const SUBJECTS = 24;
const COMMITS = 120;
const OBJECTS = 4;

/** What a deployment may set. */
interface Configuration {
  readonly name: string;
  /** Whether it takes part in what is written, or only in how it is ranked for who reads. */
  readonly path: 'read' | 'write';
  readonly distance: 'cosine' | 'euclidean';
  readonly normalised: boolean;
  readonly rerankedBy: 'nothing' | 'confidence' | 'time';
  readonly top: number;
  /** What the judge is told, which is a part of what its answers are kept under. */
  readonly instruction: string;
}

export const BASELINE: Configuration = {
  name: 'baseline',
  path: 'read',
  distance: 'cosine',
  normalised: false,
  rerankedBy: 'nothing',
  top: 10,
  instruction: 'choose the one that is so',
};

/** The six cells of the paper (D.5), and its k of the top. */
const CONFIGURATIONS: readonly Configuration[] = [
  BASELINE,
  { ...BASELINE, name: 'another distance', distance: 'euclidean' },
  { ...BASELINE, name: 'vectors of length 1', distance: 'euclidean', normalised: true },
  { ...BASELINE, name: 'reranked by confidence', rerankedBy: 'confidence' },
  { ...BASELINE, name: 'reranked by time', rerankedBy: 'time' },
  { ...BASELINE, name: 'the top 30', top: 30 },
  { ...BASELINE, name: 'another instruction of the judge', path: 'write', instruction: 'choose the safer one' },
];

/** Of the paper: seeds of five with which mem0 v3 has another verdict than with its baseline. */
const PAPER: Readonly<Record<string, number>> = {
  baseline: 0,
  'another distance': 0,
  'vectors of length 1': 0,
  'reranked by confidence': 0,
  'reranked by time': 0,
  'another instruction of the judge': 4,
};

export const configuration: Experiment = {
  name: 'configuration',
  about: 'whether settings of reading or of writing change what anomalies there are (proposition 2 of D.5)',
  run: async (running) => [await configurationTable(running)],
};

/** What a deployment comes to. */
interface Deployed {
  readonly verdict: { readonly n1: boolean; readonly n2: boolean; readonly n3: boolean };
  /** Of what is believed, and of how it is ranked. */
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
    rows: CONFIGURATIONS.map(({ name, path }, c) => {
      const count = (isSo: (one: Deployed, i: number) => boolean): number => deployed[c]!.filter(isSo).length;
      const verdicts = deployed[c]!.map(({ verdict }) => JSON.stringify(verdict));
      const others = verdicts.filter((verdict, i) => verdict !== JSON.stringify(baseline![i]!.verdict)).length;
      // Of as many seeds as the paper has.
      const paper = seeds === SEEDS ? PAPER[name] : undefined;
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
      `${seeds} seeds a row. ${COMMITS} commits say something of ${SUBJECTS} subjects; who wins a contradiction a judge says, which is a stub. N1: another stub over the same log ends with other beliefs. N2: two open rows overlap. N3: what was contradicted has no audit row that names it.`,
      'What is set for reading changes what is recalled and in which order, and nothing of what is believed. Another instruction is another question to the judge, so that other facts are believed; no anomaly comes of it. The paper’s figures are of mem0 v3, and reported.',
    ],
  };
}

/** Writes what chance says, once with a judge and once more with another one over the same log. */
export function deploy(of: Configuration, seed: string): Deployed {
  const log = new Map<string, Answer>();
  const said = assertions(seededRandom(`said ${seed}`));
  const rows = written(of, said, log, seededRandom(`judge ${of.instruction} ${seed}`));
  const again = written(of, said, log, seededRandom(`another judge ${seed}`));
  return {
    verdict: {
      n1: contentHash(rows) !== contentHash(again),
      n2: overlaps(rows),
      n3: said.some(({ subject, object }) => isLost(rows, subject, object)),
    },
    beliefs: contentHash(believed(rows).map(({ subject, object }) => [subject, object])),
    recalled: contentHash(recall(of, believed(rows), seed).map(({ fact_id }) => fact_id)),
  };
}

interface Said extends Assertion {
  readonly subject: string;
}

function assertions(chance: Random): readonly Said[] {
  return Array.from({ length: COMMITS }, (_, i) => {
    const [subject = 0, object = 0, confidence = 0] = chance.bytes(3);
    return {
      subject: `subject ${subject % SUBJECTS}`,
      claim: `claim ${i}`,
      object: `object ${object % OBJECTS}`,
      valid: { from: AT, to: OPEN_END },
      confidence: confidence / 255,
      provenance: `w:@${i}`,
    };
  });
}

const AT = '2026-04-15T00:00:00.000000Z';
const DECLARATION = declarePredicate({ cardinality: 'single-valued', strategy: 'await' });

/** All that was said, one commit after the other; a question that is in the log is not asked again. */
function written(
  of: Configuration,
  said: readonly Said[],
  log: Map<string, Answer>,
  judge: Random,
): readonly FactRow[] {
  const rows = new Map<string, readonly FactRow[]>();
  for (const [i, { subject, ...assertion }] of said.entries()) {
    const partition = { space: 'configuration', subject, predicate: 'medication' };
    const own = rows.get(subject) ?? [];
    const writing: Writing = {
      partition,
      declaration: DECLARATION,
      open: believed(own),
      latest: own.at(-1)?.system_time_start ?? null,
      at: AT,
      seq: i,
      merge: (a, b) => [...a.split(' + '), ...b.split(' + ')].sort().join(' + '),
    };
    const plan = planAssert(writing, [assertion]);
    const settled =
      plan.kind === 'plan'
        ? plan
        : planAssert({ ...writing, answers: plan.questions.map((asked) => answered(of, asked, log, judge)) }, [
            assertion,
          ]);
    if (settled.kind === 'ask') throw new Error('A question that was answered is asked again.');
    rows.set(subject, applyPlan(own, settled));
  }
  return [...rows.values()].flat();
}

function answered({ instruction }: Configuration, question: Question, log: Map<string, Answer>, judge: Random): Answer {
  const key = JSON.stringify([question.request, instruction]);
  const known = log.get(key);
  if (known !== undefined) return known;
  const answer = answerOf(question, judge.bytes(1)[0]! % question.members.length);
  log.set(key, answer);
  return answer;
}

function believed(rows: readonly FactRow[]): readonly FactRow[] {
  return rows.filter((row) => row.row_kind === 'current' && row.system_time_end === OPEN_END);
}

function overlaps(rows: readonly FactRow[]): boolean {
  try {
    checkOpen(rows, DECLARATION);
    return false;
  } catch (error) {
    if (isAssizeError(error, 'overlaps_open')) return true;
    throw error;
  }
}

/** Whether something that was said is neither believed nor named by the witness of an audit row. */
function isLost(rows: readonly FactRow[], subject: string, object: string): boolean {
  const own = rows.filter((row) => row.subject === subject);
  if (believed(own).some((row) => row.object === object)) return false;
  return !own.some(
    (row) => row.row_kind === 'audit' && readWitness(row).members.some((member) => member.object === object),
  );
}

/** What a search finds: rows by how near they are, as configured. None of it is asked by who writes. */
function recall(of: Configuration, rows: readonly FactRow[], question: string): readonly FactRow[] {
  const asked = vectorOf(question, of.normalised);
  const near = rows
    .map((row) => ({
      row,
      distance: distanceOf(of.distance, vectorOf(row.object + row.subject, of.normalised), asked),
    }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, of.top)
    .map(({ row }) => row);
  if (of.rerankedBy === 'confidence') return near.toSorted((a, b) => b.confidence - a.confidence);
  return of.rerankedBy === 'time' ? near.toSorted((a, b) => b.asserted_seq - a.asserted_seq) : near;
}

const DIMENSIONS = 8;

/** A vector that stands for a text: the same for the same text, and no more meaning than that. */
function vectorOf(text: string, normalised: boolean): readonly number[] {
  const hash = Buffer.from(contentHash(text), 'hex');
  const vector = Array.from({ length: DIMENSIONS }, (_, i) => hash[i]! - 128);
  const length = normalised ? Math.hypot(...vector) : 1;
  return vector.map((one) => one / length);
}

function distanceOf(sort: Configuration['distance'], a: readonly number[], b: readonly number[]): number {
  if (sort === 'euclidean') return Math.hypot(...a.map((one, i) => one - b[i]!));
  const dot = a.reduce((sum, one, i) => sum + one * b[i]!, 0);
  return 1 - dot / (Math.hypot(...a) * Math.hypot(...b));
}
