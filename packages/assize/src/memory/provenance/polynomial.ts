import { arg, checkArgument } from '#base';
import { ProvenanceError } from './errors.ts';
import { placedToken, readToken, type Token } from './token.ts';

/** The map, whose own methods refuse changes: all callers share the constants. */
function constantMap<K, V>(map: Map<K, V>): ReadonlyMap<K, V> {
  const refuse = Object.freeze((): never => {
    throw new TypeError('The polynomials zero and one cannot be changed.');
  });
  return Object.freeze(Object.assign(map, { set: refuse, delete: refuse, clear: refuse }));
}

/** Sorted tokens with their exponents, `w:@0*w:@1^2`; '' is the monomial 1. */
export type Monomial = string;

/**
 * An element of N[X,T] (Green et al. 2007; §2.2 of the paper): a sum of monomials with integer
 * coefficients from 1. Terms are in canonical order, so equal polynomials are equal in every part.
 * Immutable.
 */
export class Polynomial {
  static readonly zero: Polynomial = new Polynomial(constantMap(new Map()));
  static readonly one: Polynomial = new Polynomial(constantMap(new Map([['', 1n]])));

  /** Monomials in canonical order, each with its coefficient. */
  readonly terms: ReadonlyMap<Monomial, bigint>;

  private constructor(terms: ReadonlyMap<Monomial, bigint>) {
    this.terms = terms;
    Object.freeze(this);
  }

  /** @throws ProvenanceError `bad_input` */
  static of(token: Token): Polynomial {
    return new Polynomial(new Map([[readToken(token), 1n]]));
  }

  /**
   * Parses a canonical text, the result of `toString`.
   * @throws ProvenanceError `bad_input`, and `bad_input` for an invalid token
   */
  static read(text: string): Polynomial {
    checkArgument(arg.text, text, 'text');
    if (text === '0') return Polynomial.zero;
    // Most polynomials are one write.
    if (ONE_TOKEN.test(text)) return Polynomial.of(text);
    const terms = text.split(' + ').map((part): readonly [Monomial, bigint] => {
      const [, coefficient, monomial] = TERM.exec(part) ?? [];
      if (coefficient === undefined && monomial === undefined)
        throw badPolynomial(text, `${shown(part)} is not a term`);
      if (monomial !== undefined) for (const [token] of factorsOf(monomial)) readToken(token);
      return [monomialOf(factorsOf(monomial ?? '')), BigInt(coefficient ?? 1)];
    });
    const read = Polynomial.#sum(terms);
    if (read.toString() !== text)
      throw badPolynomial(text, `its canonical text is ${shown(read.toString())}`);
    return read;
  }

  /**
   * The canonical text: `w:@0 + 2*w:@1^2*t:policy:v1`, or 0 for the zero polynomial. Equal texts
   * are equal polynomials.
   */
  toString(): string {
    if (this.terms.size === 0) return '0';
    return [...this.terms].map(([monomial, n]) => termText(monomial, n)).join(' + ');
  }

  /** The tokens of the polynomial, sorted. */
  get tokens(): readonly Token[] {
    const found = new Set(
      [...this.terms.keys()].flatMap((monomial) => factorsOf(monomial).map(([token]) => token)),
    );
    return [...found].sort(byText);
  }

  equals(other: Polynomial): boolean {
    checkArgument(POLYNOMIAL, other, 'other');
    return this.toString() === other.toString();
  }

  /** The sum: either operand suffices. */
  plus(other: Polynomial): Polynomial {
    checkArgument(POLYNOMIAL, other, 'other');
    return Polynomial.#sum([...this.terms, ...other.terms]);
  }

  /** The product: both operands are needed. */
  times(other: Polynomial): Polynomial {
    checkArgument(POLYNOMIAL, other, 'other');
    const products = [...this.terms].flatMap(([a, m]) =>
      [...other.terms].map(([b, n]): [Monomial, bigint] => [product(a, b), m * n]),
    );
    return Polynomial.#sum(products);
  }

  /**
   * The natural order (Theorem 3): whether this polynomial plus some polynomial equals the other.
   */
  precedes(other: Polynomial): boolean {
    checkArgument(POLYNOMIAL, other, 'other');
    return [...this.terms].every(([monomial, n]) => n <= (other.terms.get(monomial) ?? 0n));
  }

  /**
   * Replaces a token with a polynomial. Substituting 0 deletes the token's write: the result is
   * exactly the provenance without that write, for any query.
   */
  substitute(token: Token, value: Polynomial): Polynomial {
    checkArgument(POLYNOMIAL, value, 'value');
    const terms = [...this.terms].flatMap(([monomial, n]) => {
      const factors = factorsOf(monomial);
      const rest = monomialOf(factors.filter(([name]) => name !== token));
      let term = new Polynomial(new Map([[rest, n]]));
      const exponent = factors.find(([name]) => name === token)?.[1] ?? 0;
      for (let i = 0; i < exponent; i++) term = term.times(value);
      return [...term.terms];
    });
    return Polynomial.#sum(terms);
  }

  /**
   * The polynomial outside its entry: the writes `@n` become that entry's.
   * @throws ProvenanceError `bad_input` for an invalid id
   */
  placed(entryId: string): Polynomial {
    return Polynomial.#sum(
      [...this.terms].map(([monomial, n]) => [
        monomialOf(
          factorsOf(monomial).map(([token, exponent]) => [placedToken(token, entryId), exponent]),
        ),
        n,
      ]),
    );
  }

  /** Accepts canonical monomials in any order, with repetitions. */
  static #sum(terms: Iterable<readonly [Monomial, bigint]>): Polynomial {
    const sums = new Map<Monomial, bigint>();
    for (const [monomial, n] of terms) sums.set(monomial, (sums.get(monomial) ?? 0n) + n);
    return new Polynomial(new Map([...sums].sort(([a], [b]) => byText(a, b))));
  }
}

/**
 * The sum of two canonical texts as a text. Plans merge provenance with it.
 * @throws ProvenanceError the errors of `Polynomial.read`
 */
export function mergeProvenance(a: string, b: string): string {
  return Polynomial.read(a).plus(Polynomial.read(b)).toString();
}

/** The product of a canonical text with tokens: all of them are needed as well. */
export function multipliedProvenance(text: string, tokens: readonly Token[]): string {
  return String(
    tokens.reduce((product, token) => product.times(Polynomial.of(token)), Polynomial.read(text)),
  );
}

const POLYNOMIAL = arg.of('a Polynomial', (value) => value instanceof Polynomial);

const COUNT = '[1-9][0-9]*';
const TOKEN = '[wt]:[!-),-\\]_-~]+';
const ONE_TOKEN = new RegExp(`^${TOKEN}$`);
const FACTOR = `${TOKEN}(?:\\^${COUNT})?`;
const TERM = new RegExp(`^(?:(${COUNT})(?:\\*(?=.))?)?((?:${FACTOR})(?:\\*${FACTOR})*)?$`);

type Factor = readonly [token: Token, exponent: number];

function factorsOf(monomial: Monomial): readonly Factor[] {
  if (monomial === '') return [];
  return monomial.split('*').map((factor) => {
    const [token, exponent] = factor.split('^');
    return [token as Token, Number(exponent ?? 1)];
  });
}

function monomialOf(factors: readonly Factor[]): Monomial {
  const exponents = new Map<Token, number>();
  for (const [token, exponent] of factors)
    exponents.set(token, (exponents.get(token) ?? 0) + exponent);
  return [...exponents]
    .filter(([, exponent]) => exponent > 0)
    .sort(([a], [b]) => byText(a, b))
    .map(([token, exponent]) => (exponent === 1 ? token : `${token}^${exponent}`))
    .join('*');
}

function product(a: Monomial, b: Monomial): Monomial {
  if (a === '' || b === '') return a + b;
  return monomialOf([...factorsOf(a), ...factorsOf(b)]);
}

function termText(monomial: Monomial, n: bigint): string {
  if (monomial === '') return String(n);
  return n === 1n ? monomial : `${n}*${monomial}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function badPolynomial(text: string, problem: string): ProvenanceError {
  return new ProvenanceError('bad_input', `${shown(text)} is not a polynomial: ${problem}.`, {
    evidence: { text: text.slice(0, SHOWN_MAX), problem },
  });
}

/** Maximum length of a text in an error. */
const SHOWN_MAX = 200;

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
}
