import type { Simulation } from './simulate.ts';

/** A simulation as a document. */
export function simulationDocument({
  trajectoryId,
  at,
  recorded,
  variants,
  partings,
}: Simulation): object {
  const { leftOut: left_out, ...record } = recorded;
  return {
    trajectory_id: trajectoryId,
    at,
    recorded: { ...record, left_out },
    variants: variants.map(({ medians, samples, ...variant }) => ({
      ...variant,
      medians: withTokens(medians),
      samples: samples.map(({ asked, ...sample }) => ({ ...sample, asked: withTokens(asked) })),
    })),
    partings,
  };
}

type Tokens = Readonly<
  Record<'inputTokens' | 'outputTokens' | 'askedInputTokens' | 'askedOutputTokens', number>
>;

function withTokens(figures: Tokens): object {
  const { inputTokens: input_tokens, outputTokens: output_tokens, ...more } = figures;
  const {
    askedInputTokens: asked_input_tokens,
    askedOutputTokens: asked_output_tokens,
    ...others
  } = more;
  return { ...others, input_tokens, output_tokens, asked_input_tokens, asked_output_tokens };
}
