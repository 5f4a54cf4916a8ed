import { expect, test } from 'vitest';
import { whyNone } from './why-none.ts';

const ALL = { runs: 20, tested: 9, obeyed: 4, significant: 1, minSupport: 5, exceptions: 0.05 };

test.each([
  ['no run', { runs: 0 }, /^No run was mined: /],
  ['few runs', { runs: 1 }, /^There are too few runs: .* at least 5 runs .* 1 was mined\. /],
  ['no test', { tested: 0 }, /^There is too little support: .* no tool was called in so many runs/],
  [
    'none obeyed',
    { obeyed: 0 },
    /^No rule is obeyed: 9 possible rules were tested, .* 5 % of its cases\. /,
  ],
  [
    'only chance',
    { significant: 0 },
    /^No rule is significant: .* each of the 4 that the runs obey /,
  ],
  [
    'support of significant rules',
    {},
    /^There is too little support: .* no significant rule is\. /,
  ],
])('%s is the reason of an empty result', (_, given, text) => {
  expect(whyNone({ ...ALL, ...given })).toMatch(text);
});
