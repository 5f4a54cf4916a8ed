import { allHold, compileCondition } from './condition.ts';
import { quoted } from './grammar.ts';
import type { PolicyQuery, Verdict } from './policy.ts';
import type { CallPattern } from './rule.ts';
import { isToolName, matchesTool } from './tool-pattern.ts';

type Call = NonNullable<PolicyQuery['calls']>[number];

/** Whether the calls of a proposal match a row, or the reason why they could not be tested. */
export type CallsTest = (calls: readonly Call[]) => boolean | string;

/**
 * The calls of a row as a test. Every pattern is tested on every call, so the result depends
 * neither on the order of the calls nor on the order of the patterns, except for the words of an
 * error. The patterns must have been parsed before.
 */
export function compileCalls(effect: Verdict, patterns: readonly CallPattern[]): CallsTest {
  if (patterns.length === 0) return (calls) => calls.length === 0;
  const tests = patterns.map((pattern) => compilePattern(pattern, effect === 'allow'));
  return (calls) => {
    let matching = 0;
    for (const call of calls) {
      const matches = matchesOne(tests, call);
      if (typeof matches === 'string') return `the call of ${quoted(call.tool)}: ${matches}`;
      if (matches) matching++;
    }
    return matching > 0 && (effect !== 'allow' || matching === calls.length);
  };
}

type CallTest = (call: Call) => boolean | string;

function matchesOne(tests: readonly CallTest[], call: Call): boolean | string {
  if (!isToolName(call.tool)) return 'this is not the name of a tool';
  let found = false;
  for (const test of tests) {
    const matches = test(call);
    if (typeof matches === 'string') return matches;
    found ||= matches;
  }
  return found;
}

function compilePattern({ tool: pattern, where = [] }: CallPattern, allows: boolean): CallTest {
  const conditions = where.map((each) => compileCondition(each, allows));
  return ({ tool, input }) => matchesTool(pattern, tool) && allHold(conditions, input);
}
