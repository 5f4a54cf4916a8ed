/** The expressions that the benchmark's calculator allows. */
const ALLOWED = /^[0-9+\-*/(). ]+$/;
const TOKEN = /\s*(\d+\.?\d*|\.\d+|[-+*/()])/y;

/**
 * The value of an expression of numbers, the four operations and brackets, rounded to hundredths.
 *
 * @throws Error in the benchmark's words
 */
export function calculated(expression: string): number {
  if (!ALLOWED.test(expression)) throw new Error('invalid characters in expression');
  const value = new Reader(tokensOf(expression)).all();
  return Math.round(value * 100) / 100;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const found = TOKEN.exec(text);
    if (found === null) throw new Error('invalid syntax');
    tokens.push(found[1] as string);
  }
  return tokens;
}

/** By descent: sums of products of signed numbers and brackets. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  all(): number {
    const value = this.#sum();
    if (this.#at < this.#tokens.length) throw new Error('invalid syntax');
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#takes('+')) value += this.#product();
      else if (this.#takes('-')) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#takes('*')) value *= this.#signed();
      else if (this.#takes('/')) value /= divisor(this.#signed());
      else return value;
    }
  }

  #signed(): number {
    if (this.#takes('-')) return -this.#signed();
    if (this.#takes('+')) return this.#signed();
    if (this.#takes('(')) {
      const value = this.#sum();
      if (!this.#takes(')')) throw new Error('invalid syntax');
      return value;
    }
    const value = Number(this.#tokens[this.#at++] ?? Number.NaN);
    if (Number.isNaN(value)) throw new Error('invalid syntax');
    return value;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }
}

function divisor(value: number): number {
  if (value === 0) throw new Error('division by zero');
  return value;
}
