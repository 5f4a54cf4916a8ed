import { expect, test } from 'vitest';
import { simulationChoicesOf, simulationHref } from './simulation-address.ts';

test('the address from an entry is read again', () => {
  const [path, search] = simulationHref('a/b c', 7).split('?');
  expect(path).toBe('/what-if/a%2Fb%20c');
  expect(simulationChoicesOf(new URLSearchParams(search))).toEqual({
    simulation: undefined,
    at: 7,
    samples: 1,
  });
});

test('an invalid number is left out', () => {
  const search = new URLSearchParams('at=-1&samples=1e9&simulation=careful');
  expect(simulationChoicesOf(search)).toEqual({ simulation: 'careful', at: undefined, samples: 1 });
});
