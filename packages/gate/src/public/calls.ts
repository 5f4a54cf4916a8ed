/**
 * `@assize/gate`: tool calls of a framework or of a program of your own, each judged by a rules
 * file, approved by a person where the rules ask, made once, and recorded.
 */
export {
  type Approver,
  type AskedCall,
  type BegunCall,
  type CallEnd,
  CallError,
  type CallErrorCode,
  type CallPort,
  type ConnectGateOptions,
  connectGate,
  type DecideOptions,
  type Decision,
  errorOf,
  Gate,
  type GateCall,
  type GateOptions,
  type HeldCall,
  type JudgedEnd,
  type Judgement,
  type Make,
  type MakeOptions,
  type Observed,
  type OpenGateOptions,
  type Outcome,
  openGate,
  type PendingEnd,
  type PersonsDecision,
  type ShownCall,
} from '#calls';
