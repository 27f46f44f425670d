import { execute, Instruction } from './execute'
import { Program } from './program'

/**
 * Threads that share one memory and the work of its programs. Each has an instance of the kernels: the host's own is
 * thread 0, the others are in `serve`. Two programs may be under way at once, each in a slot: the host's runs in
 * `run`, another has been given away with `start`. Whoever goes through a program hands out the pieces of one instruction
 * at a time, takes pieces itself, and helps with those of the other slot before it waits.
 */

/** Cache lines are 64 bytes; what one thread writes while others spin on it has a line of its own. */
@unmanaged
export class Crew {
  /** Changes whenever there may be something to do for a thread that sleeps. */
  calls: i32
  sleepers: i32
  /** 1: the threads are to return from `serve`. */
  ending: i32
  /** 1: a thread has failed, and what it held will never be done. */
  failed: i32
  /** 1: the host may sleep. The main thread of a browser must not. */
  hostSleeps: i32
  /** Looks around for work before a thread goes to sleep, and before one that waits for the last piece does. */
  idleLooks: i32
  waitingLooks: i32
  /** Naps after which one that waits gives up: a thread has ended without a word. */
  mostNaps: i32
  /** Naps since `gather`, and after how many of them nothing is handed out any more. */
  naps: i32
  fewNaps: i32
  padding0: u64
  padding1: u64
  padding2: u64
}

@unmanaged
class Slot {
  /** Counts instructions above the lowest 16 bits, which hold the pieces that nobody has taken yet. */
  ticket: u64
  program: usize
  instruction: usize
  padding0: u64
  padding1: u64
  padding2: u64
  padding3: u64
  padding4: u64
  padding5: u64
  /** Pieces of the instruction that are not done. */
  pending: i32
  /** A `Task`; of the second slot only. */
  task: i32
  padding6: u64
  padding7: u64
  padding8: u64
  padding9: u64
  padding10: u64
  padding11: u64
  padding12: u64
}

/** How a program that was given away stands. */
namespace Task {
  export const none = 0
  export const waiting = 1
  export const running = 2
  export const done = 3
}

/** Bytes of a crew with its slots, to be aligned to 64. */
export const crewBytes: usize = offsetof<Crew>() + 2 * offsetof<Slot>()

@inline
function hostSlot(crew: Crew): Slot {
  return changetype<Slot>(changetype<usize>(crew) + offsetof<Crew>())
}

@inline
function taskSlot(crew: Crew): Slot {
  return changetype<Slot>(changetype<usize>(crew) + offsetof<Crew>() + offsetof<Slot>())
}

/** Prepares a crew, in memory that holds zeros. See the fields for the meaning. */
export function assemble(
  crew: Crew,
  hostSleeps: i32,
  idleLooks: i32,
  waitingLooks: i32,
  mostNaps: i32,
  fewNaps: i32,
): void {
  crew.hostSleeps = hostSleeps
  crew.idleLooks = idleLooks
  crew.waitingLooks = waitingLooks
  crew.mostNaps = mostNaps
  crew.fewNaps = fewNaps
}


/** Looks around for work `times` times, for the host to measure how long that takes. */
export function look(crew: Crew, times: i32): void {
  for (let i = 0; i < times; i++) help(crew, 0)
}

/** Thread `thread` works until it is dismissed. */
export function serve(crew: Crew, thread: i32): void {
  const ending = changetype<usize>(crew) + offsetof<Crew>('ending')
  let looks = 0
  while (atomic.load<i32>(ending) == 0) {
    if (coordinate(crew, thread) || help(crew, thread)) looks = 0
    else if (++looks > crew.idleLooks) {
      sleepUnless(crew, ending, 1, -1)
      looks = 0
    }
  }
}

/** Ends `serve` in all threads. */
export function dismiss(crew: Crew): void {
  atomic.store<i32>(changetype<usize>(crew) + offsetof<Crew>('ending'), 1)
  wake(crew)
}

/** A thread ends in the middle of its work. */
export function fail(crew: Crew): void {
  atomic.store<i32>(changetype<usize>(crew) + offsetof<Crew>('failed'), 1)
  wake(crew)
}

/** Runs a program, all threads sharing its work. False where a thread has failed. */
export function run(crew: Crew, program: Program): bool {
  return go(crew, hostSlot(crew), program, 0)
}

/**
 * Whether threads had to be waited for so often that whoever goes through a program does all of it alone: on a processor
 * that others use as well, a thread may be stopped in the middle of a piece.
 */
export function isScattered(crew: Crew): bool {
  return atomic.load<i32>(changetype<usize>(crew) + offsetof<Crew>('naps')) >= crew.fewNaps
}

/** Lets the threads share the work again. */
export function gather(crew: Crew): void {
  atomic.store<i32>(changetype<usize>(crew) + offsetof<Crew>('naps'), 0)
}

/** Gives a program away, to be run beside those of `run`. One at a time: the one before has to be finished. */
export function start(crew: Crew, program: Program): void {
  const slot = taskSlot(crew)
  slot.program = changetype<usize>(program)
  atomic.store<i32>(changetype<usize>(slot) + offsetof<Slot>('task'), Task.waiting)
  wake(crew)
}

/** Helps with the program that was given away until it is done. False where a thread has failed. */
export function finish(crew: Crew): bool {
  const slot = taskSlot(crew)
  const task = changetype<usize>(slot) + offsetof<Slot>('task')
  if (atomic.load<i32>(task) == Task.none) return true
  if (!coordinate(crew, 0) && !helpUntil(crew, task, Task.done, 0)) return false
  atomic.store<i32>(task, Task.none)
  return true
}

/** Goes through the program that was given away, if nobody does yet. */
function coordinate(crew: Crew, thread: i32): bool {
  const slot = taskSlot(crew)
  const task = changetype<usize>(slot) + offsetof<Slot>('task')
  if (atomic.load<i32>(task) != Task.waiting) return false
  if (atomic.cmpxchg<i32>(task, Task.waiting, Task.running) != Task.waiting) return false
  if (go(crew, slot, changetype<Program>(slot.program), thread)) atomic.store<i32>(task, Task.done)
  else fail(crew)
  wake(crew)
  return true
}

function go(crew: Crew, slot: Slot, program: Program, thread: i32): bool {
  slot.program = changetype<usize>(program)
  const scratch = program.scratch + thread * program.scratchStride
  const end = program.end
  for (let at = program.instructions; at < end; at += offsetof<Instruction>()) {
    const instruction = changetype<Instruction>(at)
    if (instruction.pieces == 1) execute(instruction, 0, scratch)
    else if (isScattered(crew)) {
      for (let piece = 0; piece < instruction.pieces; piece++) execute(instruction, piece, scratch)
    } else if (!share(crew, slot, instruction, thread)) return false
  }
  return true
}

/** Hands out the pieces of an instruction and waits until all of them are done. */
function share(crew: Crew, slot: Slot, instruction: Instruction, thread: i32): bool {
  const at = changetype<usize>(slot)
  slot.instruction = changetype<usize>(instruction)
  atomic.store<i32>(at + offsetof<Slot>('pending'), instruction.pieces)
  const count = (atomic.load<u64>(at) >> 16) + 1
  atomic.store<u64>(at, (count << 16) | <u64>instruction.pieces)
  wake(crew)
  while (takePiece(crew, slot, thread)) {}
  return helpUntil(crew, at + offsetof<Slot>('pending'), 0, thread)
}

/** Helps wherever it can until a word has a value. False where a thread has failed. */
function helpUntil(crew: Crew, word: usize, value: i32, thread: i32): bool {
  let looks = 0
  let naps = 0
  while (atomic.load<i32>(word) != value) {
    if (atomic.load<i32>(changetype<usize>(crew) + offsetof<Crew>('failed')) != 0) return false
    if (help(crew, thread)) {
      looks = 0
      naps = 0
    } else if (++looks > crew.waitingLooks) {
      if (++naps > crew.mostNaps) return false
      atomic.add<i32>(changetype<usize>(crew) + offsetof<Crew>('naps'), 1)
      // Whoever holds the last piece may be waiting for the processor that this thread keeps busy.
      if (thread != 0 || crew.hostSleeps != 0) sleepUnless(crew, word, value, napNanoseconds)
      looks = 0
    }
  }
  return true
}

/** The most that one nap lasts: a bound on what it takes to notice that nobody is there to wake this thread. */
const napNanoseconds: i64 = 1000000

/** Does a piece of any program. False where there is none to be had. */
function help(crew: Crew, thread: i32): bool {
  return takePiece(crew, hostSlot(crew), thread) || takePiece(crew, taskSlot(crew), thread)
}

/**
 * Does a piece of the slot's instruction. What the slot says of it holds from the moment that a piece is taken until it
 * is given back as done, for the instruction cannot end without it.
 */
function takePiece(crew: Crew, slot: Slot, thread: i32): bool {
  const at = changetype<usize>(slot)
  let ticket = atomic.load<u64>(at)
  while (true) {
    if ((ticket & 0xffff) == 0) return false
    const seen = atomic.cmpxchg<u64>(at, ticket, ticket - 1)
    if (seen == ticket) break
    ticket = seen
  }
  const program = changetype<Program>(slot.program)
  const piece = <i32>(ticket & 0xffff) - 1
  execute(changetype<Instruction>(slot.instruction), piece, program.scratch + thread * program.scratchStride)
  if (atomic.sub<i32>(at + offsetof<Slot>('pending'), 1) == 1) wake(crew)
  return true
}

/** Wakes all who sleep, after something has changed: they look around before they sleep again. */
function wake(crew: Crew): void {
  const at = changetype<usize>(crew)
  if (atomic.load<i32>(at + offsetof<Crew>('sleepers')) == 0) return
  atomic.add<i32>(at + offsetof<Crew>('calls'), 1)
  atomic.notify(at + offsetof<Crew>('calls'), -1)
}

/**
 * Sleeps until called, unless a word has a value or there is something to do. It counts as a sleeper before it looks for
 * the last time, and others look for sleepers after they have changed something: no call is missed.
 */
function sleepUnless(crew: Crew, word: usize, value: i32, nanoseconds: i64): void {
  const at = changetype<usize>(crew)
  const calls = atomic.load<i32>(at + offsetof<Crew>('calls'))
  atomic.add<i32>(at + offsetof<Crew>('sleepers'), 1)
  if (atomic.load<i32>(word) != value && nothingToDo(crew)) {
    atomic.wait<i32>(at + offsetof<Crew>('calls'), calls, nanoseconds)
  }
  atomic.sub<i32>(at + offsetof<Crew>('sleepers'), 1)
}

function nothingToDo(crew: Crew): bool {
  const task = changetype<usize>(taskSlot(crew))
  if (atomic.load<u64>(changetype<usize>(hostSlot(crew))) & 0xffff) return false
  if (atomic.load<u64>(task) & 0xffff) return false
  return atomic.load<i32>(task + offsetof<Slot>('task')) != Task.waiting
}
