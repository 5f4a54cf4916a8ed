import { Polynomial, type Token } from 'assize/internal/memory/provenance';

/** Definition 10: the largest exponent of the token in any monomial; 0 if the token is absent. */
export function degreeOf(polynomial: Polynomial, token: Token): number {
  const exponents = [...polynomial.terms.keys()].flatMap((monomial) =>
    factorsOf(monomial).flatMap(([name, exponent]) => (name === token ? [exponent] : [])),
  );
  return Math.max(0, ...exponents);
}

/** The polynomial with another exponent for each token of each monomial. 0 removes the token. */
export function withExponents(
  polynomial: Polynomial,
  of: (exponent: number, token: Token) => number,
): Polynomial {
  return [...polynomial.terms].reduce((sum, [monomial, count]) => {
    const factors = factorsOf(monomial).flatMap(([token, exponent]) =>
      Array.from({ length: of(exponent, token) }, () => Polynomial.of(token)),
    );
    return sum.plus(
      factors.reduce((product, factor) => product.times(factor), Polynomial.read(`${count}`)),
    );
  }, Polynomial.zero);
}

function factorsOf(monomial: string): readonly (readonly [token: Token, exponent: number])[] {
  if (monomial === '') return [];
  return monomial.split('*').map((factor) => {
    const [token = '', exponent = '1'] = factor.split('^');
    return [token, Number(exponent)] as const;
  });
}
