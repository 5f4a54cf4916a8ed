import { resolve } from 'node:path';
import { CliError, importModule, whyOf } from '@assize/command';
import type { ExtractionTerms, Model } from '#agents';

/**
 * The model that a file exports, with its declared settings.
 * @throws CliError
 */
export async function loadModel(file: string): Promise<Pick<ExtractionTerms, 'model' | 'theta'>> {
  const { model, theta } = (await importModule(
    file,
    'model',
    'Name a module that exports a function model',
  )) as {
    readonly model?: unknown;
    readonly theta?: unknown;
  };
  const path = resolve(file);
  if (typeof model !== 'function')
    throw new CliError(
      'bad_input',
      `The file ${path} exports no function model. Export a function that answers a prompt.`,
    );
  if (theta !== undefined && (typeof theta !== 'object' || theta === null))
    throw new CliError(
      'bad_input',
      `The theta of ${path} is not an object. Export one such as { model_version: '1' }.`,
    );
  return { model: failing(model as Model, path), ...(theta !== undefined && { theta }) };
}

/** An error of a model belongs to the user's module. */
function failing(model: Model, path: string): Model {
  return async (prompt, schema) => {
    try {
      return await model(prompt, schema);
    } catch (cause) {
      throw new CliError(
        'bad_input',
        `The model of ${path} failed: ${whyOf(cause).replace(/\.$/, '')}.`,
        {
          cause,
        },
      );
    }
  };
}
