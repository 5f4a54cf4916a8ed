export type {
  RecordedSummary,
  RulingCounts,
  SampleFigures,
  VariantParting,
  VariantResult,
} from './compare.ts';
export { badSimulation, configuredVariants } from './configured-variants.ts';
export type { SimulateOptions, SimulationLimits, SimulationSource, Variant } from './options.ts';
export type { People } from './people.ts';
export type { SampleFault, SampleOutcome, SampleResult } from './sample-result.ts';
export { type Simulation, simulate } from './simulate.ts';
export { simulationDocument } from './simulation-document.ts';
export type { SimulationGiven } from './simulation-given.ts';
export type {
  SimulatedCall,
  SimulatorContext,
  SimulatorRule,
  ToolSimulator,
} from './simulators.ts';
export type { Parting, Step } from './steps.ts';
