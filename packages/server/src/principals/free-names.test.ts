import { expect, test } from 'vitest';
import { FreeNames } from './free-names.ts';

const names = new FreeNames(['boss:ada', 'agent:scout']);

function isFree(check: 'requireFree' | 'requireOwnOrFree', name: string): boolean {
  try {
    names[check](name);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'forbidden', evidence: { principal: name } });
    return false;
  }
}

test.each([
  ['person:grace', true, true],
  ['boss:adam', true, true],
  ['assizes:x', true, true],
  ['my assize:x', true, true],
  // A name of the configuration belongs to its principal alone.
  ['boss:ada', false, true],
  ['BOSS:ada', false, false],
  ['boss:аda', false, false],
  ['assize:', false, false],
  ['ASSIZE:server', false, false],
  ['аѕѕіzе:server', false, false],
  ['assize\u200b:server', false, false],
  ['person:\u200bgrace', false, false],
  [' person:grace', false, false],
  ['', false, false],
])('the name %j is free: %s, own or free: %s', (name, free, ownOrFree) => {
  // Twice: the second answer is from memory.
  for (let n = 0; n < 2; n++) {
    expect(isFree('requireFree', name)).toBe(free);
    expect(isFree('requireOwnOrFree', name)).toBe(ownOrFree);
  }
});
