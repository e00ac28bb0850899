/** Where the hosts of a run stand. Each has an address, and a way to run programs there. */
export interface Network {
  /** `loopback`: addresses of this machine's own, without links that could be broken. */
  kind: 'namespaces' | 'loopback'
  /** The addresses as CIDR, for settings such as `CRAWL_ALLOW_PRIVATE`. */
  range: string
  /** The address of the runner, which pollers and sites use; hosts reach it. */
  runner: string
  /** One more address of the runner, as for a simulated site or a proxy. */
  runnerAddress(): Promise<string>
  /**
   * The port that stands for a usual one. In namespaces it is the same; on loopback another one,
   * because somebody may listen on the usual port of all addresses.
   */
  port(usual: number): number
  attach(name: string): Promise<Place>
  /** Removes everything of it; the processes have ended. */
  close(): Promise<void>
}

/** What the network knows of one host. */
export interface Place {
  address: string
  /** Words before a command that runs it on the host. */
  enter: readonly string[]
  /** Processes on the host, whoever started them. */
  pids(): Promise<number[]>
  /** Nothing that is sent to the host or from it arrives; null on loopback. */
  links: Links | null
}

/** Breaks links silently, as a switch would: nobody is told, packets are lost. */
export interface Links {
  isolate(): Promise<void>
  rejoin(): Promise<void>
  /** Both ways between this host and an address; other links stay. */
  cut(address: string): Promise<void>
  mend(address: string): Promise<void>
  /** Forgets all connections, as a host that lost its power does. The address stays. */
  reset(): Promise<void>
}
