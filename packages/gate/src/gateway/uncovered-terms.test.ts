import { expect, test } from 'vitest';
import { desk } from '../../../../tests/support/domains/gateway/desk.ts';
import { uncoveredTerms } from './index.ts';

const RULES = `
id: bank
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } }, bank/look: { class: read } }
rules: [{ id: pay, ask: bank/pay }]
standing: { uses: 5, hours: 24, amounts: { cents: 500 } }
`;

test.each([
  [['bank/pay'], { cents: 5 }, []],
  [['bank/*'], { cents: 0, euros: 1 }, []],
  [['bank/look', 'shell/git', 'files/*'], {}, []],
  [['bank/nope', 'bank/look'], {}, [{ tools: 'bank/nope' }]],
  [['mail/*', 'bank/*'], {}, [{ tools: 'mail/*' }, { tool: 'bank/pay', unit: 'cents' }]],
])('%j with %j', async (tools, amounts, uncovered) => {
  const { state, assize } = await desk(RULES);
  expect(uncoveredTerms(state(), { tools, amounts: amounts as Record<string, number> })).toEqual(
    uncovered,
  );
  await assize.close();
});
