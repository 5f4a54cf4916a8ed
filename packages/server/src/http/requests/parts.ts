import { type Operation, ServerError } from '@assize/command/operation';
import { hasHiddenMember } from '@assize/gate/internal/calls';
import {
  issueText,
  issueWords,
  type Misfit,
  misfitsOf,
  type RawIssue,
  toPointer,
} from 'assize/internal/canon';
import { z } from 'zod';

type PartName = 'path' | 'query' | 'body';

/** Accepts no member. */
const NOTHING = z.strictObject({});

/**
 * The parts of a request by the schemas of its operation. All misfits of all parts are reported
 * together.
 *
 * @throws ServerError `invalid_request` with `findings`
 */
export function checkedParts(
  { params = NOTHING, query = NOTHING, body, refusesHidden }: Operation,
  given: {
    readonly path: Readonly<Record<string, string>>;
    readonly query: URLSearchParams;
    readonly body: unknown;
  },
): { readonly path: any; readonly query: any; readonly body: any } {
  const findings: Misfit[] = [];
  const checked = (part: PartName, schema: z.ZodType, value: unknown): unknown => {
    const parsed = schema.safeParse(value, { error: (issue) => issueWords(issue as RawIssue) });
    if (parsed.success) return parsed.data;
    findings.push(...misfitsOf(parsed.error, [part]));
    return undefined;
  };
  const { members, repeated } = membersOf(given.query);
  for (const name of repeated)
    findings.push({ pointer: toPointer(['query', name]), message: 'is given twice; give it once' });
  if (refusesHidden === true && hasHiddenMember(given.body))
    findings.push({
      pointer: toPointer(['body']),
      message: 'has a member named __proto__; give it another name',
    });
  const parts = {
    path: checked('path', params, given.path),
    query: checked('query', query, members),
    body: body === undefined ? undefined : checked('body', body, given.body),
  };
  if (findings.length === 0) return parts;
  const issues = findings.map(({ pointer, message }) => ({
    path: pointer.split('/').slice(1),
    message,
  }));
  throw new ServerError('invalid_request', `The request is not valid: ${issueText({ issues })}.`, {
    evidence: { findings },
  });
}

function membersOf(query: URLSearchParams): {
  readonly members: Readonly<Record<string, string>>;
  readonly repeated: readonly string[];
} {
  const names = [...query.keys()];
  return {
    members: Object.fromEntries(query),
    repeated: [...new Set(names.filter((name, i) => names.indexOf(name) !== i))],
  };
}
