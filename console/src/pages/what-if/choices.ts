/** The choices of a backtest, as the address of the page has them. */
export interface Choices {
  readonly tries: 'rules' | 'domain';
  /** The hash of the other version of the domain. */
  readonly domain: string | undefined;
  /** The rule table that was run: JSON, or its digest. Null: the example. */
  readonly table: string | null;
  /** The first and the last entry whose ruling is compared. Absent: all. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export function choicesOf(search: URLSearchParams): Choices {
  return {
    tries: search.get('try') === 'domain' ? 'domain' : 'rules',
    domain: search.get('domain') ?? undefined,
    table: search.get('table'),
    from: numberOf(search.get('from')),
    to: numberOf(search.get('to')),
  };
}

export function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The body of a request, or the reason why there is none yet. */
export type Asked = { readonly body: BacktestBody } | { readonly lacks: string };

export interface BacktestBody {
  readonly trajectories: string[];
  readonly rules?: unknown;
  readonly rules_file?: string;
  readonly domain_hash?: string;
  readonly from_seq?: number;
  readonly to_seq?: number;
  readonly limit: number;
}

/** The most differences that the server lists. */
export const LISTED_MAX = 1_000;

export function askedBy(
  trajectory: string,
  { tries, domain, from, to }: Choices,
  rules: string,
  isFile = false,
): Asked {
  if (from !== undefined && to !== undefined && from > to)
    return { lacks: 'The first entry is after the last one.' };
  const range = {
    ...(from !== undefined && { from_seq: from }),
    ...(to !== undefined && { to_seq: to }),
  };
  const body = { trajectories: [trajectory], ...range, limit: LISTED_MAX };
  if (tries === 'domain')
    return domain === undefined
      ? { lacks: 'Choose a version.' }
      : { body: { ...body, domain_hash: domain } };
  if (isFile) return { body: { ...body, rules_file: rules } };
  try {
    return { body: { ...body, rules: JSON.parse(rules) } };
  } catch {
    return { lacks: 'This is not JSON.' };
  }
}
