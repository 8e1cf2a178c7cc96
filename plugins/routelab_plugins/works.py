"""The works that built-in plugins cite, each with its text and DOI.

A plugin writes ``works.MUKOSEY2020("Algorithm 3")`` and says with it what it takes from the work.
"""

from __future__ import annotations

from functools import partial

from routelab.api import Citation

ABDELGAWAD2011 = partial(
    Citation,
    "Abdel-Gawad, Ahmed H.; Thottethodi, Mithuna S. TransCom: Transforming Stream Communication"
    " for Load Balance and Efficiency in Networks-on-Chip. 44th Annual IEEE/ACM International "
    "Symposium on Microarchitecture (MICRO), pp. 237–247, 2011",
    "",
)
ABDELGAWAD2016 = partial(
    Citation,
    "Abdel-Gawad, A. H. Scalable Global Optimal-Bandwidth Application-Specific Routing. IEEE "
    "24th Annual Symposium on High-Performance Interconnects (HOTI), pp. 9–18, 2016",
    "",
)
AHN2009 = partial(
    Citation,
    "Ahn, Jung Ho; Binkert, Nathan; Davis, Al; McLaren, Moray; Schreiber, Robert S. HyperX: "
    "Topology, Routing, and Packaging of Efficient Large-Scale Networks. Conference on High "
    "Performance Computing Networking, Storage and Analysis (SC), pp. 1–11, 2009",
    "10.1145/1654059.1654101",
)
BAILEY1994 = partial(
    Citation,
    "Bailey, David; Barszcz, Eric; Barton, John; Browning, David; Carter, Russell; Dagum, Leo; "
    "Fatoohi, Rod; Fineberg, Samuel; Frederickson, Paul; Lasinski, Thomas; Schreiber, Rob; "
    "Simon, Horst; Venkatakrishnan, V.; Weeratunga, Sisira. The NAS Parallel Benchmarks. NASA "
    "Ames Research Center, RNR Technical Report RNR-94-007, 1994",
    "",
)
BAILEY1995 = partial(
    Citation,
    "Bailey, David; Harris, Tim; Saphir, William; van der Wijngaart, Rob; Woo, Alex; Yarrow, "
    "Maurice. The NAS Parallel Benchmarks 2.0. NASA Ames Research Center, Report NAS-95-020, "
    "1995",
    "",
)
BESTA2014 = partial(
    Citation,
    "Besta, Maciej; Hoefler, Torsten. Slim Fly: A Cost Effective Low-Diameter Network Topology."
    " International Conference for High Performance Computing, Networking, Storage and Analysis"
    " (SC), 2014",
    "10.1109/SC.2014.34",
)
CAMARA2010 = partial(
    Citation,
    "Cámara, José M.; Moretó, Miquel; Vallejo, Enrique; Beivide, Ramón; Miguel-Alonso, José; "
    "Martínez, Carmen; Navaridas, Javier. Twisted Torus Topologies for Enhanced Interconnection "
    "Networks. IEEE Transactions on Parallel and Distributed Systems 21(12), pp. 1765–1778, 2010",
    "",
)
CAMARERO2013 = partial(
    Citation,
    "Camarero, Cristóbal; Martínez, Carmen; Beivide, Ramón. Symmetric Interconnection Networks "
    "from Cubic Crystal Lattices. arXiv:1311.2019, 2013",
    "",
)
CAMARERO2014 = partial(
    Citation,
    "Camarero, Cristóbal; Vallejo, Enrique; Beivide, Ramón. Topological Characterization of "
    "Hamming and Dragonfly Networks and Its Implications on Routing. ACM Transactions on "
    "Architecture and Code Optimization 11(4), 2014",
    "10.1145/2677038",
)
CAMARERO2022 = partial(
    Citation,
    "Camarero, Cristóbal; Martínez, Carmen; Beivide, Ramón. Polarized Routing for Large "
    "Interconnection Networks. IEEE Micro 42(2), pp. 61–67, 2022",
    "10.1109/MM.2021.3139392",
)
CAMARERO2024 = partial(
    Citation,
    "Camarero, Cristóbal; Cano, Alejandro; Martínez, Carmen; Beivide, Ramón. Achieving "
    "High-Performance Fault-Tolerant Routing in HyperX Interconnection Networks. "
    "arXiv:2404.04315, 2024",
    "",
)
CASANOVA2014 = partial(
    Citation,
    "Casanova, Henri; Giersch, Arnaud; Legrand, Arnaud; Quinson, Martin; Suter, Frédéric. "
    "Versatile, Scalable, and Accurate Simulation of Distributed Applications and Platforms. "
    "Journal of Parallel and Distributed Computing 74(10), pp. 2899–2917, 2014",
    "10.1016/j.jpdc.2014.06.008",
)
COOPER2007 = partial(
    Citation,
    "Cooper, Colin; Dyer, Martin; Greenhill, Catherine. Sampling Regular Graphs and a "
    "Peer-to-Peer Network. Combinatorics, Probability and Computing 16(4), pp. 557–593, 2007",
    "",
)
DALLY1987 = partial(
    Citation,
    "Dally, William J.; Seitz, Charles L. Deadlock-Free Message Routing in Multiprocessor "
    "Interconnection Networks. IEEE Transactions on Computers C-36(5), pp. 547–553, 1987",
    "10.1109/TC.1987.1676939",
)
DALLY2004 = partial(
    Citation,
    "Dally, William James; Towles, Brian Patrick. Principles and Practices of Interconnection "
    "Networks. Morgan Kaufmann, ISBN 978-0-12-200751-4, 2004",
    "",
)
DOMKE2011 = partial(
    Citation,
    "Domke, Jens; Hoefler, Torsten; Nagel, Wolfgang E. Deadlock-Free Oblivious Routing for "
    "Arbitrary Topologies. IEEE International Parallel and Distributed Processing Symposium, "
    "pp. 616–627, 2011",
    "10.1109/IPDPS.2011.65",
)
DOMKE2016 = partial(
    Citation,
    "Domke, Jens; Hoefler, Torsten; Matsuoka, Satoshi. Routing on the Dependency Graph: A New "
    "Approach to Deadlock-Free High-Performance Routing. 25th ACM International Symposium on "
    "High-Performance Parallel and Distributed Computing (HPDC), pp. 3–14, 2016",
    "10.1145/2907294.2907313",
)
DUATO1993 = partial(
    Citation,
    "Duato, José. A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks. IEEE "
    "Transactions on Parallel and Distributed Systems 4(12), pp. 1320–1331, 1993",
    "10.1109/71.250114",
)
FLAJSLIK2018 = partial(
    Citation,
    "Flajslik, Mario; Borch, Eric; Parker, Mike A. Megafly: A Topology for Exascale Systems. "
    "High Performance Computing (ISC), pp. 289–310, 2018",
    "10.1007/978-3-319-92040-5_15",
)
GOMEZ2007 = partial(
    Citation,
    "Gómez, Crispín; Gilabert, Francisco; Gómez, María Engracia; López, Pedro; Duato, José. "
    "Deterministic versus Adaptive Routing in Fat-Trees. 21st International Parallel and "
    "Distributed Processing Symposium (IPDPS), pp. 1–8, 2007",
    "",
)
HAFNER2004 = partial(
    Citation,
    "Hafner, Paul R. Geometric Realisation of the Graphs of McKay-Miller-Širáň. Journal of "
    "Combinatorial Theory, Series B 90(2), pp. 223–232, 2004",
    "10.1016/j.jctb.2003.07.002",
)
HARARY1988 = partial(
    Citation,
    "Harary, Frank; Hayes, John P.; Wu, Horng-Jyh. A Survey of the Theory of Hypercube Graphs. "
    "Computers & Mathematics with Applications 15(4), pp. 277–289, 1988",
    "10.1016/0898-1221(88)90213-1",
)
HOEFLER2008 = partial(
    Citation,
    "Hoefler, Torsten; Schneider, Timo; Lumsdaine, Andrew. Multistage Switches are not "
    "Crossbars: Effects of Static Routing in High-Performance Networks. 2008 IEEE International"
    " Conference on Cluster Computing, 2008",
    "10.1109/CLUSTR.2008.4663762",
)
HOEFLER2009 = partial(
    Citation,
    "Hoefler, Torsten; Schneider, Timo; Lumsdaine, Andrew. Optimized Routing for Large-Scale "
    "InfiniBand Networks. 17th IEEE Symposium on High Performance Interconnects, pp. 103–111, "
    "2009",
    "10.1109/HOTI.2009.9",
)
IMB = partial(
    Citation,
    "Intel Corporation. Intel MPI Benchmarks. Intel Corporation",
    "",
)
JIANG2009 = partial(
    Citation,
    "Jiang, Nan; Kim, John; Dally, William J. Indirect Adaptive Routing on Large Scale "
    "Interconnection Networks. 36th International Symposium on Computer Architecture (ISCA), "
    "2009",
    "10.1145/1555754.1555783",
)
JIANG2013 = partial(
    Citation,
    "Jiang, Nan; Becker, Daniel U.; Michelogiannakis, George; Balfour, James; Towles, Brian; "
    "Shaw, David E.; Kim, John; Dally, William J. A Detailed and Flexible Cycle-Accurate "
    "Network-on-Chip Simulator. IEEE International Symposium on Performance Analysis of Systems"
    " and Software, pp. 86–96, 2013",
    "10.1109/ISPASS.2013.6557149",
)
KIM2008 = partial(
    Citation,
    "Kim, John; Dally, William J.; Scott, Steve; Abts, Dennis. Technology-Driven, "
    "Highly-Scalable Dragonfly Topology. International Symposium on Computer Architecture, pp. "
    "77–88, 2008",
    "10.1109/ISCA.2008.19",
)
KINSY2009 = partial(
    Citation,
    "Kinsy, Michel A.; Cho, Myong Hyon; Wen, Tina; Suh, Edward; van Dijk, Marten; Devadas, "
    "Srinivas. Application-Aware Deadlock-Free Oblivious Routing. 36th Annual International "
    "Symposium on Computer Architecture (ISCA), pp. 208–219, 2009",
    "10.1145/1555754.1555782",
)
KOIBUCHI2001 = partial(
    Citation,
    "Koibuchi, Michihiro; Funahashi, Akira; Jouraku, Akiya; Amano, Hideharu. L-turn Routing: An"
    " Adaptive Routing in Irregular Networks. International Conference on Parallel Processing "
    "(ICPP), 2001",
    "10.1109/ICPP.2001.952084",
)
KOIBUCHI2003 = partial(
    Citation,
    "Koibuchi, Michihiro; Jouraku, Akiya; Watanabe, Konosuke; Amano, Hideharu. Descending Layers "
    "Routing: A Deadlock-Free Deterministic Routing Using Virtual Channels in System Area Networks "
    "with Irregular Topologies. International Conference on Parallel Processing (ICPP), "
    "pp. 527–536, 2003",
    "",
)
LAKHOTIA2022 = partial(
    Citation,
    "Lakhotia, Kartik; Besta, Maciej; Monroe, Laura; Isham, Kelly; Iff, Patrick; Hoefler, "
    "Torsten; Petrini, Fabrizio. PolarFly: A Cost-Effective and Flexible Low-Diameter Topology."
    " International Conference for High Performance Computing, Networking, Storage and Analysis"
    " (SC), 2022",
    "10.48550/arXiv.2208.01695",
)
MCDONALD2019 = partial(
    Citation,
    "McDonald, Nic; Isaev, Mikhail; Flores, Adriana; Davis, Al; Kim, John. Practical and "
    "Efficient Incremental Adaptive Routing for HyperX Networks. International Conference for "
    "High Performance Computing, Networking, Storage and Analysis (SC), 2019",
    "10.1145/3295500.3356151",
)
MEJIA2005 = partial(
    Citation,
    "Mejía, Andrés; Flich, José; Duato, José. Segment-Based Routing: A New Approach to "
    "Efficient Topology-Agnostic Routing. Departamento de Informática de Sistemas y "
    "Computadores, Universidad Politécnica de Valencia, Technical Report, 2005",
    "",
)
MEJIA2006 = partial(
    Citation,
    "Mejía, Andrés; Flich, José; Duato, José; Reinemo, Sven-Arne; Skeie, Tor. Segment-Based "
    "Routing: An Efficient Fault-Tolerant Routing Algorithm for Meshes and Tori. 20th IEEE "
    "International Parallel and Distributed Processing Symposium (IPDPS), 2006",
    "",
)
MERLIN1980 = partial(
    Citation,
    "Merlin, Philip M.; Schweitzer, Paul J. Deadlock Avoidance in Store-and-Forward Networks - "
    "I: Store-and-Forward Deadlock. IEEE Transactions on Communications 28(3), pp. 345–354, "
    "1980",
    "10.1109/TCOM.1980.1094666",
)
MONTANANA2009 = partial(
    Citation,
    "Montañana, J. M.; Koibuchi, M.; Matsutani, H.; Amano, H. Balanced Dimension-Order Routing "
    "for k-ary n-cubes. International Conference on Parallel Processing Workshops, pp. 499–506,"
    " 2009",
    "",
)
MORRIS1993 = partial(
    Citation,
    "Morris, Paul. The Breakout Method for Escaping from Local Minima. AAAI National Conference"
    " on Artificial Intelligence, 1993",
    "",
)
MUKOSEY2020 = partial(
    Citation,
    "Mukosey, Anatoly; Semenov, Alexander; Tretiakov, Alexander. Optimized Graph Based Routing "
    "Algorithm for the Angara Interconnect. arXiv:2110.00851, 2021",
    "10.48550/arXiv.2110.00851",
)
NESSON1995 = partial(
    Citation,
    "Nesson, Ted; Johnsson, S. Lennart. ROMM Routing on Mesh and Torus Networks. ACM Symposium "
    "on Parallel Algorithms and Architectures, pp. 275–287, 1995",
    "10.1145/215399.215455",
)
OHRING1995 = partial(
    Citation,
    "Öhring, Sabine R.; Ibel, Maximilian; Das, Sajal K.; Kumar, Mohan J. On Generalized Fat "
    "Trees. 9th International Parallel Processing Symposium (IPPS), pp. 37–44, 1995",
    "",
)
OSU = partial(
    Citation,
    "Network-Based Computing Laboratory. OSU Micro-Benchmarks. The Ohio State University",
    "",
)
PEARCE2007 = partial(
    Citation,
    "Pearce, David J.; Kelly, Paul H. J. A Dynamic Topological Sort Algorithm for Directed Acyclic "
    "Graphs. ACM Journal of Experimental Algorithmics 11, article 1.7, 2007",
    "10.1145/1187436.1210590",
)
PETRINI1997 = partial(
    Citation,
    "Petrini, Fabrizio; Vanneschi, Marco. k-ary n-trees: High Performance Networks for "
    "Massively Parallel Architectures. 11th International Parallel Processing Symposium (IPPS),"
    " pp. 87–93, 1997",
    "10.1109/IPPS.1997.580853",
)
PFISTER1985 = partial(
    Citation,
    "Pfister, Gregory F.; Norton, V. Alan. “Hot Spot” Contention and Combining in Multistage "
    "Interconnection Networks. IEEE Transactions on Computers C-34(10), pp. 943–948, 1985",
    "10.1109/TC.1985.6312198",
)
PUENTE2001 = partial(
    Citation,
    "Puente, Valentin; Izu, Cruz; Beivide, Ramón; Gregorio, José A.; Vallejo, Fernando; "
    "Prellezo, Jose M. The Adaptive Bubble Router. Journal of Parallel and Distributed "
    "Computing 61(9), pp. 1180–1208, 2001",
    "10.1006/jpdc.2001.1746",
)
SANCHO2000 = partial(
    Citation,
    "Sancho, J. C.; Robles, A. Improving the Up*/Down* Routing Scheme for Networks of "
    "Workstations. Euro-Par 2000, LNCS 1900, pp. 882–889, 2000",
    "10.1007/3-540-44520-X_123",
)
SANCHO2000FX = partial(
    Citation,
    "Sancho, José Carlos; Robles, Antonio; Duato, José. A Flexible Routing Scheme for Networks "
    "of Workstations. High Performance Computing, Third International Symposium (ISHPC), LNCS "
    "1940, pp. 260–267, 2000",
    "",
)
SANCHO2001 = partial(
    Citation,
    "Sancho, José Carlos; Robles, Antonio; Duato, José. Effective Strategy to Compute "
    "Forwarding Tables for InfiniBand Networks. International Conference on Parallel Processing"
    " (ICPP), pp. 48–57, 2001",
    "10.1109/ICPP.2001.952046",
)
SCHROEDER1991 = partial(
    Citation,
    "Schroeder, Michael D.; Birrell, Andrew D.; Burrows, Michael; Murray, Hal; Needham, Roger "
    "M.; Rodeheffer, Thomas L.; Satterthwaite, Edwin H.; Thacker, Charles P. Autonet: A "
    "High-Speed, Self-Configuring Local Area Network Using Point-to-Point Links. IEEE Journal "
    "on Selected Areas in Communications 9(8), pp. 1318–1335, 1991",
    "10.1109/49.105178",
)
SCOTT1996 = partial(
    Citation,
    "Scott, Steven L.; Thorson, Gregory M. The Cray T3E Network: Adaptive Routing in a High "
    "Performance 3D Torus. Hot Interconnects IV, 1996",
    "",
)
SEO2005 = partial(
    Citation,
    "Seo, Daeho; Ali, Akif; Lim, Won-Taek; Rafique, Nauman; Thottethodi, Mithuna. Near-Optimal "
    "Worst-Case Throughput Routing for Two-Dimensional Mesh Networks. International Symposium "
    "on Computer Architecture, pp. 432–443, 2005",
    "10.1109/ISCA.2005.37",
)
SHASTRY2016 = partial(
    Citation,
    "Shastry, Prajakt; Parker, Daniel; Kapoor, Sanjiv; Raicu, Ioan. Exploring Randomized "
    "Multipath Routing on Multi-Dimensional Torus Networks. Illinois Institute of Technology",
    "",
)
SHPINER2017 = partial(
    Citation,
    "Shpiner, Alexander; Haramaty, Zachy; Eliad, Saar; Zdornov, Vladimir; Gafni, Barak; Zahavi,"
    " Eitan. Dragonfly+: Low Cost Topology for Scaling Datacenters. IEEE 3rd International "
    "Workshop on High-Performance Interconnection Networks in the Exascale and Big-Data Era "
    "(HiPINEB), pp. 1–8, 2017",
    "10.1109/HiPINEB.2017.11",
)
SINGH2002 = partial(
    Citation,
    "Singh, Arjun; Dally, William J.; Towles, Brian; Gupta, Amit K. Locality-Preserving "
    "Randomized Oblivious Routing on Torus Networks. ACM Symposium on Parallel Algorithms and "
    "Architectures, pp. 9–13, 2002",
    "10.1145/564870.564873",
)
SINGH2003 = partial(
    Citation,
    "Singh, Arjun; Dally, William J.; Gupta, Amit K.; Towles, Brian. GOAL: A Load-Balanced "
    "Adaptive Routing Algorithm for Torus Networks. International Symposium on Computer "
    "Architecture, pp. 194–205, 2003",
    "10.1145/859618.859641",
)
SINGH2005 = partial(
    Citation,
    "Singh, Arjun. Load-Balanced Routing in Interconnection Networks. PhD thesis, Stanford "
    "University, 2005",
    "",
)
SINGLA2012 = partial(
    Citation,
    "Singla, Ankit; Hong, Chi-Yao; Popa, Lucian; Godfrey, P. Brighten. Jellyfish: Networking "
    "Data Centers Randomly. 9th USENIX Symposium on Networked Systems Design and Implementation"
    " (NSDI), pp. 225–238, 2012",
    "",
)
SKEIE2002 = partial(
    Citation,
    "Skeie, Tor; Lysne, Olav; Theiss, Ingebjørg. Layered Shortest Path (LASH) Routing in "
    "Irregular System Area Networks. 16th International Parallel and Distributed Processing "
    "Symposium (IPDPS), 2002",
    "",
)
SKEIE2004 = partial(
    Citation,
    "Skeie, Tor; Lysne, Olav; Flich, José; López, Pedro; Robles, Antonio; Duato, José. "
    "LASH-TOR: A Generic Transition-Oriented Routing Algorithm. 10th International Conference "
    "on Parallel and Distributed Systems (ICPADS), 2004",
    "",
)
STAROBINSKI2003 = partial(
    Citation,
    "Starobinski, David; Karpovsky, Mark; Zakrevski, Lev A. Application of Network Calculus to "
    "General Topologies Using Turn-Prohibition. IEEE/ACM Transactions on Networking 11(3), pp. "
    "411–421, 2003",
    "10.1109/TNET.2003.813040",
)
THAKUR2005 = partial(
    Citation,
    "Thakur, Rajeev; Rabenseifner, Rolf; Gropp, William. Optimization of Collective "
    "Communication Operations in MPICH. International Journal of High Performance Computing "
    "Applications 19(1), pp. 49–66, 2005",
    "10.1177/1094342005051521",
)
TORUS2QOS = partial(
    Citation,
    "OpenFabrics Alliance. torus-2QoS(8): Routing Engine for OpenSM Subnet Manager. OpenSM 3.3.23",
    "",
)
TOWLES2002 = partial(
    Citation,
    "Towles, Brian; Dally, William J. Worst-case Traffic for Oblivious Routing Functions. "
    "Proceedings of the 14th annual ACM symposium on Parallel algorithms and architectures "
    "(SPAA '02), 2002",
    "10.1145/564870.564872",
)
VALIANT1982 = partial(
    Citation,
    "Valiant, Leslie G. A Scheme for Fast Parallel Communication. SIAM Journal on Computing "
    "11(2), pp. 350–361, 1982",
    "10.1137/0211027",
)
YOUNG1995 = partial(
    Citation,
    "Young, Neal E. Randomized Rounding without Solving the Linear Program. ACM-SIAM Symposium "
    "on Discrete Algorithms, 1995",
    "",
)
ZAHAVI2010 = partial(
    Citation,
    "Zahavi, Eitan; Johnson, Gregory; Kerbyson, Darren J.; Lang, Michael. Optimized InfiniBand "
    "Fat-Tree Routing for Shift All-to-All Communication Patterns. Concurrency and Computation:"
    " Practice and Experience, 2010",
    "10.1002/cpe.1527",
)
ZAHAVI2012 = partial(
    Citation,
    "Zahavi, Eitan. Fat-Tree Routing and Node Ordering Providing Contention Free Traffic for "
    "MPI Global Collectives. Journal of Parallel and Distributed Computing, 2012",
    "",
)
ZHOU2006 = partial(
    Citation,
    "Zhou, Jiazheng; Lin, Xuan-Yi; Chung, Yeh-Ching. A Tree-Turn Model for Irregular Networks. "
    "5th IEEE International Symposium on Network Computing and Applications (NCA), pp. 11–18, "
    "2006",
    "10.1109/NCA.2006.10",
)
ZHOU2012 = partial(
    Citation,
    "Zhou, Jiazheng; Chung, Yeh-Ching. Tree-Turn Routing: An Efficient Deadlock-Free Routing "
    "Algorithm for Irregular Networks. The Journal of Supercomputing, 2012",
    "10.1007/s11227-010-0477-0",
)
