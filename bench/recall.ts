/**
 * Full-text search of facts on SQLite. Each query has four words that occur together in one text;
 * the frequency of a word falls with its rank. In one collection the most frequent words are stop
 * words that no search uses, as in any human text. In the other collection they are ordinary
 * words. The baseline is FTS5's own bm25 over all four words. The results include the share of the
 * ten best hits that a search loses by stopping early.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from 'assize';
import type { FactHit } from '#ledger';
import { Bm25, wordsOf, wordsOfDocument } from '#memory';
import { type BenchResult, formatTable, percentile } from './measure.ts';
import { recallVectorsBench } from './recall-vectors.ts';
import { put, START, saying } from './statements.ts';

const FACTS = 100_000;
const QUERIES = 400;
const K = 10;
const WORDS_OF_A_TEXT = 12;
const VOCABULARY = 30_000;

/** The most frequent words of any text, in place of the first ranks. */
const STOP =
  'the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had they you were'.split(
    ' ',
  );

export async function recallBench(): Promise<BenchResult[]> {
  return [
    ...(await recallWordsBench(STOP)),
    ...(await recallWordsBench([])),
    ...(await recallVectorsBench()),
  ];
}

async function recallWordsBench(first: readonly string[]): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const store = await openStore(`sqlite:${join(folder, 'recall.db')}`);
  try {
    const said = texts(first);
    for (let from = 0; from < FACTS; from += 1_000)
      await put(
        store,
        said.slice(from, from + 1_000).map((text, n) => saying(from + n, text)),
      );
    // All is indexed by then.
    await store.factsByText({ space: 'bench', text: 'warm', limit: K });
    const queries = queriesOf(said);
    const found: FactHit[][] = [];
    const micros: number[] = [];
    for (const text of queries) {
      const start = performance.now();
      found.push(
        await store.factsByText({ space: 'bench', text, system: 'now', valid: START, limit: K }),
      );
      micros.push((performance.now() - start) * 1_000);
    }
    const bare = bareFts(join(folder, 'bare.db'), said, queries);
    const exact = exactRanking(said);
    const lost = queries.map((text, n) => {
      const best = exact(text);
      const least = best.at(-1) ?? 0;
      // Of those that are as good as the last any is right.
      return best.length === 0
        ? 0
        : 1 - found[n]!.filter(({ score }) => score >= least - 1e-6).length / best.length;
    });
    const ours = (p: number): number => percentile(micros, p);
    const baseline = (p: number) => ({ name: 'bm25 of FTS5', value: percentile(bare, p) });
    const words = first.length > 0 ? 'four words' : 'four words, none of them stop words';
    const name = `recall of ${K} by ${words}, ${FACTS} facts`;
    return [
      {
        name: `${name}: p50`,
        value: ours(50),
        unit: 'µs',
        baseline: baseline(50),
        ratio: ours(50) / baseline(50).value,
        goal: { max: 2_000 },
      },
      {
        name: `${name}: p95`,
        value: ours(95),
        unit: 'µs',
        baseline: baseline(95),
        ratio: ours(95) / baseline(95).value,
      },
      {
        name: `${name}: share of the ${K} best that is lost`,
        value: lost.reduce((sum, each) => sum + each, 0) / lost.length,
        unit: '',
        goal: { max: 0.02 },
      },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The same in every run: words drawn by rank, the n-th as often as 1/n; the first
 * are given.
 */
function texts(first: readonly string[]): string[] {
  let seed = 7;
  const random = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed / 2 ** 32;
  };
  const sums: number[] = [];
  for (let rank = 1; rank <= VOCABULARY; rank += 1) sums.push((sums.at(-1) ?? 0) + 1 / rank);
  const word = (): string => {
    const at = random() * sums.at(-1)!;
    let [low, high] = [0, VOCABULARY - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return first[low] ?? nameOf(low);
  };
  return Array.from({ length: FACTS }, () =>
    Array.from({ length: WORDS_OF_A_TEXT }, word).join(' '),
  );
}

/** A word without an ending that a stem lacks. */
function nameOf(rank: number): string {
  return `${[...rank.toString(26)].map((digit) => 'bcdfghjklmnpqrtvwxzaeiouky'[Number.parseInt(digit, 26)]).join('')}ko`;
}

/** Each query takes words of one text, as from a user that remembers part of it. */
function queriesOf(said: readonly string[]): string[] {
  return Array.from({ length: QUERIES }, (_, n) =>
    [...new Set(said[(n * 7_919) % FACTS]!.split(' '))].slice(0, 4).join(' '),
  );
}

function bareFts(path: string, said: readonly string[], queries: readonly string[]): number[] {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter ascii'); BEGIN",
  );
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  for (const text of said) insert.run(text);
  db.exec('COMMIT');
  const select = db.prepare(`SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY rank LIMIT ${K}`);
  const micros = queries.map((text) => {
    const start = performance.now();
    select.all(
      text
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR '),
    );
    return (performance.now() - start) * 1_000;
  });
  db.close();
  return micros;
}

/** The ten best scores, of all texts. */
function exactRanking(said: readonly string[]): (query: string) => number[] {
  const documents = said.map((text, n) => wordsOfDocument(saying(n, text).insert[0]!));
  const byWord = new Map<string, Map<number, number>>();
  for (const [n, words] of documents.entries())
    for (const word of words) {
      const places = byWord.get(word) ?? new Map<number, number>();
      byWord.set(word, places.set(n, (places.get(n) ?? 0) + 1));
    }
  const collection = {
    texts: documents.length,
    words: documents.reduce((sum, words) => sum + words.length, 0),
  };
  return (query) => {
    const words = [...new Set(wordsOf(query))];
    const bm25 = new Bm25(
      collection,
      words.map((word) => ({ word, texts: byWord.get(word)?.size ?? 0 })),
    );
    const any = new Set(bm25.sought.flatMap(({ word }) => [...byWord.get(word)!.keys()]));
    const scores = [...any].map((n) =>
      bm25.score(
        bm25.sought.map(({ word }) => byWord.get(word)!.get(n) ?? 0),
        documents[n]!.length,
      ),
    );
    return scores.sort((a, b) => b - a).slice(0, K);
  };
}

if (import.meta.main) console.log(formatTable(await recallBench()));
