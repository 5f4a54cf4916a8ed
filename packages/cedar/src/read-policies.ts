import { type CedarEngine, type Complaint, type PolicyComplaint, sayingOf } from './engine.ts';
import { refused } from './errors.ts';

/** One policy, with the name that decisions use. */
export interface CedarRule {
  /** Its annotation `@id`, else `policy0`, `policy1`, … by its place in the text. */
  readonly id: string;
  readonly text: string;
  readonly forbids: boolean;
  /** Has the annotation `@approval("required")`. */
  readonly needsApproval: boolean;
  /** Its annotation `@because`. */
  readonly because: string | undefined;
}

const RULE_ID_MAX = 512;

/**
 * Reads the policies in the order of the text. A policy with a Cedar warning is refused with the
 * reason: an impossible condition is mostly a misspelt name, and such a `forbid` forbids nothing.
 *
 * @throws CedarError `bad_input`
 */
export function readPolicies(
  engine: CedarEngine,
  text: string,
  schema: string | object,
): CedarRule[] {
  const problems = complaints(engine, text, schema);
  if (problems.length > 0) throw refused('policies', problems);
  const rules = parts(engine, text).map((part, index) =>
    ruleOf(engine, part, `policy${index}`, problems),
  );
  const seen = new Set<string>();
  for (const { id } of rules) {
    if (seen.has(id)) problems.push(`two policies have the id ${JSON.stringify(id)}`);
    if (id === '' || id.length > RULE_ID_MAX)
      problems.push(`an id must have 1 to ${RULE_ID_MAX} characters`);
    seen.add(id);
  }
  if (problems.length > 0) throw refused('policies', problems);
  return rules;
}

/** In Cedar's own text. */
function complaints(engine: CedarEngine, text: string, schema: string | object): string[] {
  const answer = engine.validate({ schema, policies: { staticPolicies: text } });
  const say = (complaint: Complaint): string => sayingOf(complaint, text);
  if (answer.type === 'failure') return answer.errors.map(say);
  const { validationErrors, validationWarnings, otherWarnings } = answer;
  const about = ({ error }: PolicyComplaint): string => say(error);
  return [
    ...validationErrors.map(about),
    ...validationWarnings.map(about),
    ...otherWarnings.map(say),
  ];
}

function parts(engine: CedarEngine, text: string): string[] {
  const answer = engine.policySetTextToParts(text);
  if (answer.type === 'failure')
    throw refused(
      'policies',
      answer.errors.map((error) => sayingOf(error, text)),
    );
  // Cedar sorts its policy names as text: policy10 before policy2.
  const places = answer.policies
    .map((_, index) => index)
    .sort((a, b) => (`policy${a}` < `policy${b}` ? -1 : 1));
  const ordered: string[] = [];
  for (const [index, place] of places.entries()) ordered[place] = answer.policies[index] as string;
  return ordered;
}

function ruleOf(engine: CedarEngine, text: string, name: string, problems: string[]): CedarRule {
  const answer = engine.policyToJson(text);
  if (answer.type === 'failure')
    throw refused(
      'policies',
      answer.errors.map((error) => sayingOf(error)),
    );
  const { effect, annotations = {} } = answer.json;
  const annotation = (key: string): string | undefined =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  const id = annotation('id') ?? name;
  const approval = annotation('approval');
  if (approval !== undefined && approval !== 'required')
    problems.push(`${id} has @approval(${JSON.stringify(approval)}); write @approval("required")`);
  if (approval !== undefined && effect !== 'permit')
    problems.push(`${id} forbids, and an approval cannot allow that; put @approval on a permit`);
  return {
    id,
    text,
    forbids: effect !== 'permit',
    needsApproval: approval === 'required',
    because: annotation('because'),
  };
}
