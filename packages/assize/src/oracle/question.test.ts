import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, contentHash } from '#canon';
import {
  type CallScope,
  type MemoryScope,
  type OracleScope,
  oracleKey,
  type Question,
  type Theta,
  thetaHash,
} from './question.ts';

const memory: MemoryScope = { kind: 'memory', space: 's' };
const call: CallScope = { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 };

describe('oracleKey', () => {
  test('is the hash of scope, request and theta with nothing left out', () => {
    const key = oracleKey({ scope: memory, request: { ask: 'judge' }, theta: { seed: 7 } });
    const theta = {
      prompt: null,
      seed: 7,
      model_version: null,
      temperature: null,
      tool_output_hash: null,
    };
    expect(key).toBe(contentHash({ scope: memory, request: { ask: 'judge' }, theta }));
  });

  test('an absent member of theta, undefined and null are one question', () => {
    const keys = [
      { scope: memory, request: 1 },
      { scope: memory, request: 1, theta: {} },
      { scope: memory, request: 1, theta: { seed: null } },
    ].map(oracleKey);
    const withUndefined = oracleKey({
      scope: memory,
      request: 1,
      theta: { seed: undefined } as unknown as Theta,
    });
    expect(new Set([...keys, withUndefined]).size).toBe(1);
  });

  test('every part separates questions: K samples stay K, and tenants stay apart', () => {
    const base: Question = { scope: call, request: { a: 1 }, theta: { prompt: 'p' } };
    const others: Question[] = [
      { ...base, scope: memory },
      { ...base, scope: { ...memory, space: 't' } },
      { ...base, scope: { ...call, ordinal: 1 } },
      { ...base, scope: { ...call, trajectory: 'u' } },
      { ...base, scope: { ...call, branch: 'b1' } },
      { ...base, scope: { ...call, branch: 'null' } },
      { ...base, scope: { ...call, agent: 'b' } },
      { ...base, request: { a: 2 } },
      { ...base, request: null },
      { ...base, theta: { prompt: 'q' } },
      { ...base, theta: { prompt: ['p'] } },
      { ...base, theta: { prompt: 'p', seed: 0 } },
      { ...base, theta: { prompt: 'p', model_version: '' } },
      { ...base, theta: { prompt: 'p', temperature: 0 } },
      { ...base, theta: { prompt: 'p', tool_output_hash: '0' } },
    ];
    const keys = [base, ...others].map(oracleKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('is equal exactly when the questions are equal as JSON', () => {
    const scope = fc.oneof(
      fc.record({ kind: fc.constant('memory' as const), space: fc.constantFrom('a', 'b') }),
      fc.record({
        kind: fc.constant('call' as const),
        trajectory: fc.constantFrom('a', 'b'),
        branch: fc.constantFrom(null, 'a'),
        agent: fc.constantFrom('a', 'b'),
        ordinal: fc.nat({ max: 2 }),
      }),
    );
    const question = fc.record({
      scope: scope as fc.Arbitrary<OracleScope>,
      request: fc.constantFrom<Json>(1, '1', [1], { b: 1, a: 2 }, { a: 2, b: 1 }),
      theta: fc.record({
        seed: fc.constantFrom(null, 1, 2),
        prompt: fc.constantFrom<Json>('x', ['x']),
      }),
    });
    fc.assert(
      fc.property(question, question, (left, right) => {
        expect(oracleKey(left) === oracleKey(right)).toBe(
          canonicalize(left) === canonicalize(right),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test.each<[string, object]>([
    ['no scope', { scope: undefined }],
    ['a scope of another kind', { scope: { kind: 'global' } }],
    ['a memory scope without a space', { scope: { kind: 'memory' } }],
    ['an empty space', { scope: { ...memory, space: '' } }],
    ['a memory scope with an ordinal', { scope: { ...memory, ordinal: 0 } }],
    [
      'a call without a branch',
      { scope: { kind: 'call', trajectory: 't', agent: 'a', ordinal: 0 } },
    ],
    ['an empty branch', { scope: { ...call, branch: '' } }],
    ['a negative ordinal', { scope: { ...call, ordinal: -1 } }],
    ['half an ordinal', { scope: { ...call, ordinal: 0.5 } }],
    ['a scope with more', { scope: { ...call, tenant: 'x' } }],
    ['no request', { request: undefined }],
    ['a request that is not JSON', { request: { at: new Date(0) } }],
    ['theta with more', { theta: { top_p: 1 } }],
    ['theta that is null', { theta: null }],
    ['a seed as text', { theta: { seed: '7' } }],
    ['NaN for a temperature', { theta: { temperature: Number.NaN } }],
    ['a number for a model', { theta: { model_version: 4 } }],
    ['a prompt that is not JSON', { theta: { prompt: () => 'p' } }],
  ])('refuses %s', (_what, change) => {
    const question = { scope: call, request: 1, ...change } as unknown as Question;
    expect(() => oracleKey(question)).toThrowError(
      expect.objectContaining({
        name: 'OracleError',
        code: 'bad_argument',
        message: expect.stringContaining('The question is not valid'),
      }),
    );
  });
});

test('thetaHash is the hash of the full theta and refuses invalid questions', () => {
  const full = {
    prompt: null,
    seed: 7,
    model_version: null,
    temperature: null,
    tool_output_hash: null,
  };
  expect(thetaHash({ seed: 7 })).toBe(contentHash(full));
  expect(() => thetaHash({ seed: Number.NaN })).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('The question is not valid'),
    }),
  );
});
