import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ChatFact, ChatMemory, GivenFact } from '#chat';
import { dataPath, hasData } from '../../../tests/data.ts';
import { chatWorld } from '../../../tests/support/chat/chat-world.ts';

// Dated facts that annotators wrote about people, places and works, told twice: in their own names,
// and in other words that are aliases in the memory.

interface Line {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly valid_from: string;
  readonly valid_to: string;
  readonly question: string;
}

const PER_CALL = 40;
const ASKED = 120;

/** The title of a page, as people write it. */
const spoken = (subject: string): string => subject.replace('/wiki/', '').replaceAll('_', ' ');

test.skipIf(!hasData('timeqa'))(
  'facts in other words give the same recalls as in their own',
  async () => {
    const lines = readFileSync(dataPath('timeqa', 'facts.jsonl'), 'utf8').trimEnd().split('\n');
    const facts = lines.map((line): Line => JSON.parse(line));
    expect(facts).toHaveLength(880);
    const names = [...new Set(facts.map(({ predicate }) => predicate))];
    const predicates = Object.fromEntries(
      names.map((name) => [name, { cardinality: 'single-valued', strategy: 'lww-valid' } as const]),
    );
    const domain = { predicates };
    const aliases = {
      names: Object.fromEntries(facts.map(({ subject }) => [subject, [spoken(subject)]])),
      predicates: Object.fromEntries(names.map((name) => [name, [`property ${name.slice(1)}`]])),
    };
    const plain = (await chatWorld({ domain })).chat();
    const other = (await chatWorld({ domain })).chat({ aliases });
    const sumOf = async (
      memory: ChatMemory,
      told: (line: Line, n: number) => Pick<Line, 'subject' | 'predicate'>,
    ) => {
      const sums = { added: 0, changed: 0, duplicates: 0, contradicted: 0, skipped: 0 };
      for (let first = 0; first < facts.length; first += PER_CALL) {
        const part = facts.slice(first, first + PER_CALL);
        const given = part.map((line, n): GivenFact => {
          const { object, valid_from: from, valid_to: to } = line;
          return { message: n + 1, ...told(line, first + n), object, from, to };
        });
        const messages = part.map(
          (_, n) => ({ role: 'user', content: `message ${first + n}`, at: '2026-01-01' }) as const,
        );
        const done = await memory.remember(messages, { facts: given });
        for (const name of Object.keys(sums) as (keyof typeof sums)[])
          sums[name] += done[name].length;
      }
      return sums;
    };
    const own = await sumOf(plain, ({ subject, predicate }) => ({ subject, predicate }));
    expect(own.skipped).toBe(0);
    expect(own.added + own.changed + own.duplicates + own.contradicted).toBe(880);
    const reworded = await sumOf(other, ({ subject, predicate }, n) => ({
      subject: n % 2 === 0 ? spoken(subject) : subject,
      predicate: n % 3 === 0 ? `property ${predicate.slice(1)}` : predicate,
    }));
    expect(reworded).toEqual(own);
    // An object may be the name of a page too.
    const pageOf = new Map(facts.map(({ subject }) => [spoken(subject).toLowerCase(), subject]));
    const told = (found: readonly ChatFact[]): string[] =>
      found.map(({ subject, predicate, object, valid_from, valid_to }) =>
        [subject, predicate, pageOf.get(object.toLowerCase()) ?? object, valid_from, valid_to].join(
          ' | ',
        ),
      );
    const pages = async (memory: ChatMemory): Promise<string[]> => {
      const all: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const { facts, next } = await memory.recall(undefined, {
          at: 'any',
          limit: 200,
          ...(cursor !== undefined && { cursor }),
        });
        all.push(...told(facts));
        if (next === undefined) return all;
        cursor = next;
      }
    };
    const everything = await pages(plain);
    // A fact whose whole period another one has is a loser, and not believed.
    expect(everything.length).toBeGreaterThanOrEqual(880 - own.contradicted - own.changed);
    expect(await pages(other)).toEqual(everything);
    for (let n = 0; n < facts.length; n += Math.floor(facts.length / ASKED)) {
      const { subject, predicate, question, valid_from: at } = facts[n]!;
      const found = await plain.recall(undefined, {
        at,
        filter: { subjects: [subject], predicates: [predicate] },
      });
      const same = {
        at,
        filter: { subjects: [spoken(subject)], predicates: [`property ${predicate.slice(1)}`] },
      };
      expect(told((await other.recall(undefined, same)).facts)).toEqual(told(found.facts));
      expect(found.facts.length).toBeGreaterThan(0);
      const asked = { at, limit: 5, budget: 400 };
      const answered = await other.recall(`${question} (${spoken(subject)})`, asked);
      expect(answered.tokens).toBeLessThanOrEqual(400);
      expect(answered.facts.map((fact) => fact.subject)).toContain(subject);
    }
  },
);
