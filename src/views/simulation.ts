import type { Simulation } from '#agents';

/** A simulation as a document. */
export function simulationDocument({ trajectoryId, at, recorded, variants, partings }: Simulation): object {
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

function withTokens<T extends { readonly inputTokens: number; readonly outputTokens: number }>(figures: T): object {
  const { inputTokens: input_tokens, outputTokens: output_tokens, ...others } = figures;
  return { ...others, input_tokens, output_tokens };
}
