/** A domain that leaves parts out, compared with the same domain that names them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from './define-domain.ts';

const act = { args: z.object({ n: z.number() }), apply: () => undefined };
const small = {
  name: 'small',
  version: '1',
  state: z.object({ a: z.number(), b: z.record(z.string(), z.number()) }),
  actions: { act },
  invariants: [],
};
const define = (change: object) => defineDomain<any, any>({ ...small, ...change } as never);

describe('a domain without processes and roles', () => {
  test('is the domain that names one of each for the whole state', () => {
    const named = {
      processes: { state: { writes: ['/a', '/b'] } },
      roles: { agent: { processes: ['state'] } },
      actions: { act: { ...act, process: 'state' } },
    };
    expect(define({}).hash).toBe(define(named).hash);
    expect(define({}).declared).toMatchObject({ processes: named.processes, roles: named.roles });
  });

  test('covers every member of any state', () => {
    // No footprint can name a member whose name is that of a place for any key or parameter.
    const name = fc.string({ minLength: 1 }).filter((text) => !/^(?:\*|\{.*\})$/s.test(text));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 5 }), (names) => {
        const shape = Object.fromEntries(names.map((name) => [name, z.number()]));
        const { writes } = define({ state: z.object(shape) }).bind('state', {});
        expect(writes.map(({ segments }) => segments)).toEqual(
          Object.keys(shape).map((name) => [name]),
        );
      }),
    );
    const [all] = define({ state: z.record(z.string(), z.number()) }).bind('state', {}).writes;
    expect(all?.segments).toHaveLength(1);
  });

  test('needs a state with members', () => {
    const either = z.discriminatedUnion('is', [
      z.object({ is: z.literal('a') }),
      z.object({ is: z.literal('b') }),
    ]);
    expect(() => define({ state: either })).toThrow('name its processes');
  });

  test('takes a member that is undefined for an absent one', () => {
    const actions = { act: { ...act, process: undefined } };
    expect(define({ processes: undefined, roles: undefined, actions }).hash).toBe(define({}).hash);
  });

  test('keeps what it names', () => {
    const processes = { one: { writes: ['/a'] }, two: { writes: ['/b'] } };
    const both = { act: { ...act, process: 'two' } };
    expect(define({ processes, actions: both }).roles).toEqual({
      agent: { processes: ['one', 'two'] },
    });
    expect(() => define({ processes })).toThrow(
      'the action act names no process, and the domain has several: one, two',
    );
    const roles = { clerk: { processes: ['one'] } };
    expect(define({ processes: { one: processes.one }, roles }).actions['act']?.process).toBe(
      'one',
    );
    expect(() => define({ actions: both })).toThrow('belongs to two, which is not a process');
  });
});
