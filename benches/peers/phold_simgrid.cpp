// PHOLD on SimGrid: as many actors as nodes, each of which sleeps and changes a word of a node. Events per CPU-second.
//
// Usage: phold_simgrid NODES EVENTS

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

int main(int argc, char* argv[])
{
  // Small stacks and no messages: the best that the library can do for so many actors.
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("contexts/stack-size:16");
  const std::uint32_t nodes = std::stoul(argv[1]);
  std::int64_t left = std::stoll(argv[2]);
  const std::int64_t events = left;

  auto* zone = sg4::create_full_zone("grid");
  auto* host = zone->create_host("host", 1e9);
  zone->seal();

  std::mt19937_64 draw(1);
  std::exponential_distribution<double> delay(1.0);
  std::vector<std::uint64_t> state(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    sg4::Actor::create("node", host, [&] {
      while (left > 0) {
        sg4::this_actor::sleep_for(delay(draw));
        ++state[draw() % nodes];
        --left;
      }
    });
  }
  const std::clock_t began = std::clock();
  engine.run();
  const double taken = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  // Actors that slept when the last event came wake up once more.
  std::printf("{\"per_cpu_second\": %f}\n", static_cast<double>(events - left) / taken);
}
