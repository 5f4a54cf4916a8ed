import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { type Oracle, stripFence } from 'assize/internal/oracle';
import { check } from './check.ts';
import { requireShortReference } from './drafting/reference.ts';
import { OntologyError } from './errors.ts';
import type { Finding } from './finding.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { Ontology } from './ontology.ts';
import { parse } from './parse.ts';

/**
 * Any model: a function from the request to the answer, as text. The caller of the model checks the
 * answer.
 */
export type Model = (request: string) => string | Promise<string>;

export interface DraftOptions {
  /**
   * The log of the model's answers. A recorded request is not sent again, and a replay never calls
   * the model.
   */
  readonly oracle: Oracle;
  readonly model: Model;
  /** The version of the model. Another version is another question. */
  readonly modelVersion?: string;
  /** A text that the model reads before the prose, such as the reference of an upper ontology. */
  readonly context?: string;
}

export interface Draft {
  /** The Turtle text. */
  readonly text: string;
  readonly ontology: Ontology;
  /** How often the model was asked: twice where it had to learn what is wrong. */
  readonly rounds: 1 | 2;
  /** Warnings that are left. */
  readonly findings: readonly Finding[];
}

const DRAFT_OPTIONS = arg.members({
  oracle: arg.members({ ask: arg.code }),
  model: arg.code,
  modelVersion: arg.optional(arg.text),
  context: arg.optional(arg.text),
});

/**
 * The separate space of the oracle keys of drafts. The same prose and the same model are the same
 * question everywhere.
 */
const SPACE = 'assize.ontology.draft';

/**
 * An ontology that a model writes from prose. The answer is parsed and checked. On an error the
 * model is called once more, with its answer and the errors. The result is a draft for human
 * review.
 *
 * @throws OntologyError `bad_draft`, `reference_too_long`; the OracleError of `ask`; the errors of
 *   the model; ArgumentError `bad_argument`
 */
export async function draftOntology(prose: string, options: DraftOptions): Promise<Draft> {
  checkArgument(arg.text, prose, 'prose');
  checkArgument(DRAFT_OPTIONS, options, 'options');
  requireShortReference(options.context);
  const { context } = options;
  const reference = context === undefined ? '' : `\n\nFor reference:\n\n${context}`;
  const first = `${INSTRUCTIONS}${reference}\n\nThe domain:\n\n${prose}\n`;
  const answer = await ask(first, options);
  const judged = judge(answer);
  if ('ontology' in judged) return { ...judged, rounds: 1 };
  const second = `${first}\nYour answer was:\n\n${answer}\n\nThis is wrong with it:\n\n${judged.wrong}\n\nAnswer with the whole text, corrected.\n`;
  const corrected = judge(await ask(second, options));
  if ('ontology' in corrected) return { ...corrected, rounds: 2 };
  throw new OntologyError(
    'bad_draft',
    `The model’s draft is not an ontology, even after one correction: ${corrected.first}`,
    {
      evidence: { answer: corrected.text, wrong: corrected.wrong },
    },
  );
}

async function ask(
  request: string,
  { oracle, model, modelVersion }: DraftOptions,
): Promise<string> {
  const answer = await oracle.ask({
    scope: { kind: 'memory', space: SPACE },
    request: { task: 'ontology', text: request },
    theta: modelVersion === undefined ? {} : { model_version: modelVersion },
    call: () => model(request),
  });
  if (typeof answer === 'string') return answer;
  throw new OntologyError(
    'bad_draft',
    'The model did not answer with text. Make it answer with Turtle.',
    {
      evidence: { answer },
    },
  );
}

function judge(
  answer: string,
):
  | Pick<Draft, 'text' | 'ontology' | 'findings'>
  | { readonly text: string; readonly wrong: string; readonly first: string } {
  const text = `${stripFence(answer)}\n`;
  try {
    const ontology = parse(text);
    const findings = check(ontology);
    const errors = findings.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) return { text, ontology, findings };
    const lines = errors.map(
      ({ line, term, says, todo }) => `Line ${line}, ${term}: ${says}; ${todo}.`,
    );
    return { text, wrong: lines.join('\n'), first: lines[0] as string };
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return { text, wrong: error.message, first: error.message };
  }
}
