import { expect, test } from 'vitest';
import { onlyObject } from './only-object.ts';

const OBJECT = '{"facts":[{"a":"a } in a text \\" {"}]}';

test.each([
  ['nothing', OBJECT],
  ['reasoning', `<think>Ida says so.</think>\n${OBJECT}`],
  ['reasoning with a draft', `<think>First {"facts":[]}, no.</think>\n${OBJECT}`],
  ['reasoning without its start', `Or {"facts":[]}?</think>${OBJECT}`],
  ['two thoughts', `<think>{"a":1}</think><think>{"a":2}</think>${OBJECT}`],
  ['a channel', `<|channel|>analysis<|message|>{"a":1}<|end|><|channel|>final<|message|>${OBJECT}`],
  ['a sentence before', `Here are the facts:\n${OBJECT}`],
  ['sentences before and after', `Here are the facts:\n${OBJECT}\nThat is all.`],
  ['a fence', `Here:\n\`\`\`json\n${OBJECT}\n\`\`\`\nDone.`],
  ['braces that are not JSON', `In {this} form: ${OBJECT} {ok}`],
  ['an open brace', `An { open one. ${OBJECT}`],
])('one object is found with %s around it', (_, answer) => {
  expect(onlyObject(answer)).toBe(OBJECT);
});

test('an object with a mark of reasoning in its text is read as it is', () => {
  const object = '{"a":"</think>{}"}';
  for (const answer of [object, `It is ${object} here.`]) expect(onlyObject(answer)).toBe(object);
});

test.each([
  ['an object in the reasoning only', `<think>${OBJECT}</think>I cannot tell.`],
  ['no object', 'I cannot tell.'],
  ['two objects', `${OBJECT} or ${OBJECT}`],
  ['a cut object', OBJECT.slice(0, -1)],
  ['a list', '[1]'],
  ['too many braces', '{'.repeat(5_000)],
])('nothing is found in %s', (_, answer) => {
  expect(onlyObject(answer)).toBeUndefined();
});
